"""Files of POMO (new and old), Sym-NCO and Meta-SAGE, against their own formulas."""

from types import SimpleNamespace

import pytest
import torch
from torch.nn.functional import linear, relu

from metasage.policies.foreign import import_checkpoint
from metasage.problems.sets import generate

LAYOUTS = ["new", "symnco", "sml", "old"]
SML = {
    "cond_1.0.weight": ("d", 1),
    "cond_1.2.weight": ("d", "d"),
    "proj_N_h.0.weight": (1024, "d"),
    "proj_N_h.2.weight": ("d", 1024),
}


def pomo_shapes(layout, problem, width=128, hidden=512, layers=6):
    """Names and shapes of a layout's tensors."""
    old = layout == "old"
    old_names = old or problem == "tsp"
    norm = "addAndNormalization{}" if old_names else "add_n_normalization_{}"
    norm += ".norm_by_EMB" if old else ".norm"
    forward = "feedForward" if old_names else "feed_forward"
    square = (width, width)
    if problem == "tsp":
        shapes = {"encoder.embedding.weight": (width, 2), "encoder.embedding.bias": (width,)}
    else:
        shapes = {
            "encoder.embedding_depot.weight": (width, 2),
            "encoder.embedding_depot.bias": (width,),
            "encoder.embedding_node.weight": (width, 3),
            "encoder.embedding_node.bias": (width,),
        }
    for i in range(layers):
        layer = f"encoder.layers.{i}"
        shapes |= {f"{layer}.{name}.weight": square for name in ("Wq", "Wk", "Wv")}
        shapes |= {
            f"{layer}.multi_head_combine.weight": square,
            f"{layer}.multi_head_combine.bias": (width,),
            f"{layer}.{forward}.W1.weight": (hidden, width),
            f"{layer}.{forward}.W1.bias": (hidden,),
            f"{layer}.{forward}.W2.weight": (width, hidden),
            f"{layer}.{forward}.W2.bias": (width,),
        }
        parts = ("weight", "bias", "running_mean", "running_var") if old else ("weight", "bias")
        for number in (1, 2):
            name = f"{layer}.{norm.format(number)}"
            shapes |= {f"{name}.{part}": (width,) for part in parts}
            shapes |= {f"{name}.num_batches_tracked": ()} if old else {}
    decoder = "node_prob_calculator" if old else "decoder"
    names = ["Wk", "Wv"]
    if problem == "tsp":
        names += ["Wq_first", "Wq_last", *(["Wq_graph"] if old else [])]
    elif old:
        shapes[f"{decoder}.Wq.weight"] = (width, 2 * width + 1)
    else:
        shapes[f"{decoder}.Wq_last.weight"] = (width, width + 1)
    shapes |= {f"{decoder}.{name}.weight": square for name in names}
    shapes[f"{decoder}.multi_head_combine.weight"] = square
    shapes[f"{decoder}.multi_head_combine.bias"] = (width,)
    if layout in ("symnco", "sml"):
        shapes["decoder.Wq_mean.weight"] = square
        for i in (0, 2):
            shapes |= {f"decoder.proj.{i}.weight": square, f"decoder.proj.{i}.bias": (width,)}
    if layout == "sml":
        shapes |= {
            name: tuple(width if length == "d" else length for length in shape)
            for name, shape in SML.items()
        }
    return shapes


def write(path, layout, state):
    """Write the file as the projects do: the old one bare, the others wrapped."""
    if layout == "old":
        checkpoint = state
    elif layout == "sml":
        checkpoint = {"model_state_dict": state}
    else:
        checkpoint = {
            "epoch": 3100,
            "model_state_dict": state,
            "optimizer_state_dict": {"state": {}, "param_groups": [{"lr": 1e-4}]},
            "scheduler_state_dict": {"last_epoch": 3100},
            "result_log": {"train_score": [[1, 7.8]]},
        }
    torch.save(checkpoint, path)
    return path


def pomo_parts(reference, state, problem, instance):
    """Keys, values, pointers and query of one instance, by the file's names."""
    state = reference.double(state)
    features = reference.node_features(instance)
    old_names = any("addAndNormalization1" in name for name in state)
    norm = "addAndNormalization{}" if old_names else "add_n_normalization_{}"
    old = any("norm_by_EMB" in name for name in state)
    norm += ".norm_by_EMB" if old else ".norm"
    forward = "feedForward" if old_names else "feed_forward"

    def apply(name, x):
        return linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))

    if problem == "tsp":
        h = apply("encoder.embedding", features)
    else:
        depot = apply("encoder.embedding_depot", features[:1, :2])
        h = torch.cat([depot, apply("encoder.embedding_node", features[1:])])
    i = 0
    while f"encoder.layers.{i}.Wq.weight" in state:
        layer = f"encoder.layers.{i}"
        query, key, value = (apply(f"{layer}.{name}", h) for name in ("Wq", "Wk", "Wv"))
        out = apply(f"{layer}.multi_head_combine", reference.attention(query, key, value, 8))
        h = reference.normalise(state, f"{layer}.{norm.format(1)}", h + out)
        out = apply(f"{layer}.{forward}.W2", relu(apply(f"{layer}.{forward}.W1", h)))
        h = reference.normalise(state, f"{layer}.{norm.format(2)}", h + out)
        i += 1
    decoder = "node_prob_calculator" if old else "decoder"
    mean = h.mean(0)

    def query(first, last, number):
        load = torch.tensor([number], dtype=torch.float64)
        if f"{decoder}.Wq.weight" in state:
            return apply(f"{decoder}.Wq", torch.cat([mean, h[last], load]))
        if problem == "tsp":
            if first is None:  # forced, so that it does not matter
                return torch.zeros_like(mean)
            found = apply(f"{decoder}.Wq_first", h[first]) + apply(f"{decoder}.Wq_last", h[last])
        else:
            found = apply(f"{decoder}.Wq_last", torch.cat([h[last], load]))
        for name in ("Wq_graph", "Wq_mean"):
            if f"{decoder}.{name}.weight" in state:
                found = found + apply(f"{decoder}.{name}", mean)
        return found

    return SimpleNamespace(
        heads=8,
        keys=apply(f"{decoder}.Wk", h),
        values=apply(f"{decoder}.Wv", h),
        pointers=h,
        combine=lambda glimpse: apply(f"{decoder}.multi_head_combine", glimpse),
        query=query,
    )


def pomo_tensors(reference, layout, problem, **sizes):
    """Random weights of a layout."""
    state = reference.random_tensors(pomo_shapes(layout, problem, **sizes))
    instance = generate(problem, 30, 1, seed=9)[0]
    return reference.calibrated(state, lambda r, s: pomo_parts(r, s, problem, instance))


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_log_likelihoods_are_those_of_the_files_own_formulas(reference, tmp_path, layout, problem):
    state = pomo_tensors(reference, layout, problem, width=32, hidden=48, layers=2)
    model = import_checkpoint(write(tmp_path / "checkpoint.pt", layout, state))
    config = model.config
    assert (config.problem, config.width, config.layers, config.hidden) == (problem, 32, 2, 48)
    assert config.kind == ("symnco" if layout in ("symnco", "sml") else "pomo")
    instances = list(generate(problem, 9, 2, seed=4))
    reference.check_policy(
        model.policy,
        instances,
        lambda instance: pomo_parts(reference, state, problem, instance),
        "forced",
    )


@pytest.mark.parametrize(
    ("layout", "problem", "tensors", "parameters"),
    [
        ("new", "tsp", 86, 1_269_760),
        ("new", "cvrp", 87, 1_254_016),
        ("symnco", "tsp", 91, 1_269_760 + 3 * 128 * 128 + 256),
        ("symnco", "cvrp", 92, 1_254_016 + 3 * 128 * 128 + 256),
        ("old", "tsp", 123, 1_269_760 + 128 * 128),
        ("old", "cvrp", 123, 1_254_016 + 128 * 128),
    ],
)
def test_networks_of_the_published_size(reference, tmp_path, layout, problem, tensors, parameters):
    state = pomo_tensors(reference, layout, problem)
    assert len(state) == tensors
    model = import_checkpoint(write(tmp_path / "checkpoint.pt", layout, state))
    assert sum(weights.numel() for weights in model.policy.parameters()) == parameters
    reference.check_policy(
        model.policy,
        [generate(problem, 9, 1, seed=5)[0]],
        lambda instance: pomo_parts(reference, state, problem, instance),
        "forced",
    )


def test_the_scale_meta_learner_comes_along(reference, tmp_path):
    state = reference.random_tensors(pomo_shapes("sml", "tsp", layers=1))
    model = import_checkpoint(write(tmp_path / "pomo_with_sml.pt", "sml", state))
    assert sum(tensor.numel() for tensor in model.sml.values()) == 278_656
    assert sorted(tuple(t.shape) for t in model.sml.values()) == sorted(
        tuple(state[name].shape) for name in SML
    )
    for name, ours in zip(SML, ("scale_in", "scale_out", "hidden", "output"), strict=True):
        assert torch.equal(model.sml[f"sml.{ours}.weight"], state[name])
