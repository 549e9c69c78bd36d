"""Files of Kool's attention model and of the Sym-NCO built on it."""

import json
from types import SimpleNamespace

import pytest
import torch
from torch.nn.functional import linear, relu

from metasage.policies.foreign import import_checkpoint
from metasage.problems import all_problems
from metasage.problems.sets import generate

FEATURES = {"tsp": 2, "cvrp": 3, "pctsp": 4, "op": 3}


def am_shapes(problem, width=128, hidden=512, layers=3, heads=8, head=False, tracked=False):
    """Names and shapes of the layout's tensors."""
    shapes = {"init_embed.weight": (width, FEATURES[problem]), "init_embed.bias": (width,)}
    if problem == "tsp":
        shapes["W_placeholder"] = (2 * width,)
    else:
        shapes |= {"init_embed_depot.weight": (width, 2), "init_embed_depot.bias": (width,)}
    for i in range(layers):
        layer = f"embedder.layers.{i}"
        per_head = (heads, width, width // heads)
        shapes |= {f"{layer}.0.module.W_{name}": per_head for name in ("query", "key", "val")}
        shapes[f"{layer}.0.module.W_out"] = (heads, width // heads, width)
        for number in (1, 3):
            name = f"{layer}.{number}.normalizer"
            shapes |= {
                f"{name}.{part}": (width,)
                for part in ("weight", "bias", "running_mean", "running_var")
            }
            shapes |= {f"{name}.num_batches_tracked": ()} if tracked else {}
        shapes |= {
            f"{layer}.2.module.0.weight": (hidden, width),
            f"{layer}.2.module.0.bias": (hidden,),
            f"{layer}.2.module.2.weight": (width, hidden),
            f"{layer}.2.module.2.bias": (width,),
        }
    shapes |= {
        "project_node_embeddings.weight": (3 * width, width),
        "project_fixed_context.weight": (width, width),
        "project_step_context.weight": (width, 2 * width if problem == "tsp" else width + 1),
        "project_out.weight": (width, width),
    }
    if head:
        for i in (0, 2):
            shapes |= {f"projection_head.{i}.weight": (width, width)}
            shapes |= {f"projection_head.{i}.bias": (width,)}
    return shapes


def am_parts(reference, state, problem, instance):
    """Keys, values, pointers and query of one instance, by the file's names."""
    state = reference.double(state)
    features = reference.node_features(instance)

    def apply(name, x):
        return linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))

    h = apply("init_embed", features)
    if problem != "tsp":
        h = torch.cat([apply("init_embed_depot", features[:1, :2]), h[1:]])
    i = 0
    while f"embedder.layers.{i}.0.module.W_query" in state:
        layer = f"embedder.layers.{i}"
        out = torch.zeros_like(h)
        for head in range(8):
            query, key, value = (
                h @ state[f"{layer}.0.module.W_{name}"][head] for name in ("query", "key", "val")
            )
            out += (
                reference.attention(query, key, value, 1) @ state[f"{layer}.0.module.W_out"][head]
            )
        h = reference.normalise(state, f"{layer}.1.normalizer", h + out)
        out = apply(f"{layer}.2.module.2", relu(apply(f"{layer}.2.module.0", h)))
        h = reference.normalise(state, f"{layer}.3.normalizer", h + out)
        i += 1
    keys, values, pointers = apply("project_node_embeddings", h).chunk(3, dim=-1)
    fixed = apply("project_fixed_context", h.mean(0))

    def query(first, last, number):
        if problem != "tsp":
            context = torch.cat([h[last], torch.tensor([number], dtype=torch.float64)])
        elif first is None:
            context = state["W_placeholder"]
        else:
            context = torch.cat([h[first], h[last]])
        return fixed + apply("project_step_context", context)

    return SimpleNamespace(
        heads=8,
        keys=keys,
        values=values,
        pointers=pointers,
        combine=lambda glimpse: apply("project_out", glimpse),
        query=query,
    )


def am_tensors(reference, problem, **options):
    """Random weights of the layout, narrow ones."""
    state = reference.random_tensors(am_shapes(problem, width=32, hidden=48, **options))
    instance = generate(problem, 30, 1, seed=9)[0]
    return reference.calibrated(state, lambda r, s: am_parts(r, s, problem, instance))


def check_file(reference, path, state, problem, given=None):
    torch.save({"model": state}, path)
    model = import_checkpoint(path, given)
    assert model.config.problem == problem
    reference.check_policy(
        model.policy,
        list(generate(problem, 12, 2, seed=8)),
        lambda instance: am_parts(reference, state, problem, instance),
        "free",
        fractional=True,
    )
    return model


@pytest.mark.parametrize("problem", list(all_problems()))
def test_attention_model(reference, tmp_path, problem):
    state = am_tensors(reference, problem, layers=2)
    check_file(reference, tmp_path / "epoch-99.pt", state, problem, given=problem)


@pytest.mark.parametrize(
    ("problem", "argument"), [("pctsp", "pctsp_det"), ("op", "op"), ("op", "op_dist")]
)
def test_symnco_of_six_layers_takes_the_problem_from_its_arguments(
    reference, tmp_path, problem, argument
):
    (tmp_path / "args.json").write_text(json.dumps({"problem": argument, "graph_size": 100}))
    state = am_tensors(reference, problem, layers=6, head=True, tracked=True)
    model = check_file(reference, tmp_path / "epoch-99.pt", state, problem)
    assert (model.config.kind, model.config.layers) == ("symnco", 6)


@pytest.mark.parametrize(
    ("problem", "tensors", "numbers"),
    [
        ("tsp", 55, 710_144),
        ("cvrp", 56, 694_144),
        ("pctsp", 56, 694_272),
        ("op", 56, 694_144),
    ],
)
def test_the_layout_tried_here_is_the_published_one(problem, tensors, numbers):
    shapes = am_shapes(problem)
    assert len(shapes) == tensors
    assert sum(torch.Size(shape).numel() for shape in shapes.values()) == numbers
