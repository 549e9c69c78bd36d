"""Lightning checkpoints of RL4CO, with objects of classes that are not installed here."""

import importlib
import os
import pickle
import sys
import zipfile
from types import SimpleNamespace

import pytest
import torch
from torch.nn.functional import linear, relu

from metasage.errors import InputError
from metasage.policies.foreign import import_checkpoint
from metasage.policies.foreign.inert import Inert
from metasage.policies.foreign.pickled import load_pickled
from metasage.problems import all_problems
from metasage.problems.sets import generate

FEATURES = {"tsp": 2, "cvrp": 3, "pctsp": 4, "op": 3}
CONTEXT = "decoder.context_embedding"


def rl4co_shapes(problem, layers, batch_norm, head=False, width=32, hidden=48):
    """Names and shapes of the policy's tensors."""
    square = (width, width)
    shapes = {
        "encoder.init_embedding.init_embed.weight": (width, FEATURES[problem]),
        "encoder.init_embedding.init_embed.bias": (width,),
        f"{CONTEXT}.project_context.weight": (
            (width, 2 * width) if problem == "tsp" else (width, width + 1)
        ),
        "decoder.pointer.project_out.weight": square,
        "decoder.project_node_embeddings.weight": (3 * width, width),
        "decoder.project_fixed_context.weight": square,
    }
    if problem == "tsp":
        shapes[f"{CONTEXT}.W_placeholder"] = (2 * width,)
    else:
        shapes["encoder.init_embedding.init_embed_depot.weight"] = (width, 2)
        shapes["encoder.init_embedding.init_embed_depot.bias"] = (width,)
    for i in range(layers):
        layer = f"encoder.net.layers.{i}"
        for name, rows, columns in (
            ("0.module.Wqkv", 3 * width, width),
            ("0.module.out_proj", width, width),
            ("2.module.lins.0", hidden, width),
            ("2.module.lins.1", width, hidden),
        ):
            shapes[f"{layer}.{name}.weight"] = (rows, columns)
            shapes[f"{layer}.{name}.bias"] = (rows,)
        parts = ("weight", "bias", "running_mean", "running_var")
        for number in (1, 3):
            name = f"{layer}.{number}.normalizer"
            shapes |= {f"{name}.{part}": (width,) for part in parts[: 4 if batch_norm else 2]}
            shapes |= {f"{name}.num_batches_tracked": ()} if batch_norm else {}
    if head:
        for i in (0, 2):
            shapes |= {f"projection_head.{i}.weight": square}
            shapes |= {f"projection_head.{i}.bias": (width,)}
    return shapes


def rl4co_parts(reference, state, problem, instance, graph_context):
    """Keys, values, pointers and query of one instance, by the file's names."""
    state = reference.double(state)
    features = reference.node_features(instance)

    def apply(name, x):
        return linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))

    h = apply("encoder.init_embedding.init_embed", features)
    if problem != "tsp":
        depot = apply("encoder.init_embedding.init_embed_depot", features[:1, :2])
        h = torch.cat([depot, h[1:]])
    i = 0
    while f"encoder.net.layers.{i}.0.module.Wqkv.weight" in state:
        layer = f"encoder.net.layers.{i}"
        query, key, value = apply(f"{layer}.0.module.Wqkv", h).chunk(3, dim=-1)
        out = apply(f"{layer}.0.module.out_proj", reference.attention(query, key, value, 8))
        h = reference.normalise(state, f"{layer}.1.normalizer", h + out)
        out = apply(f"{layer}.2.module.lins.1", relu(apply(f"{layer}.2.module.lins.0", h)))
        h = reference.normalise(state, f"{layer}.3.normalizer", h + out)
        i += 1
    keys, values, pointers = apply("decoder.project_node_embeddings", h).chunk(3, dim=-1)
    fixed = apply("decoder.project_fixed_context", h.mean(0)) * graph_context

    def query(first, last, number):
        if problem != "tsp":
            context = torch.cat([h[last], torch.tensor([number], dtype=torch.float64)])
        elif first is None:
            context = state[f"{CONTEXT}.W_placeholder"]
        else:
            context = torch.cat([h[first], h[last]])
        return fixed + apply(f"{CONTEXT}.project_context", context)

    return SimpleNamespace(
        heads=8,
        keys=keys,
        values=values,
        pointers=pointers,
        combine=lambda glimpse: apply("decoder.pointer.project_out", glimpse),
        query=query,
    )


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """Make objects of a class that will be gone when the file is read."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)

    def make(problem):
        (folder / "rl4co_stand_in.py").write_text(
            f"class {problem.upper()}Env:\n"
            "    def __init__(self):\n"
            "        self.settings = {'size': 100}\n"
            "    def __setstate__(self, state):\n"
            "        raise RuntimeError('this must not run')\n"
        )
        importlib.invalidate_caches()
        module = importlib.import_module("rl4co_stand_in")
        return getattr(module, f"{problem.upper()}Env")()

    yield make
    sys.modules.pop("rl4co_stand_in", None)


def write(path, state, environment=None):
    """Write the file as Lightning does, then let go of the environment's class."""
    baseline = {f"baseline.policy.{name}": tensor * 0 for name, tensor in state.items()}
    torch.save(
        {
            "epoch": 99,
            "global_step": 1000,
            "pytorch-lightning_version": "2.5.0",
            "state_dict": {f"policy.{name}": tensor for name, tensor in state.items()} | baseline,
            "hyper_parameters": {"env": environment, "optimizer_kwargs": {"lr": 1e-4}},
        },
        path,
    )
    sys.modules.pop("rl4co_stand_in", None)
    (path.parent / "elsewhere" / "rl4co_stand_in.py").unlink(missing_ok=True)
    return path


def check_file(reference, path, environment, problem, batch_norm, **options):
    instance = generate(problem, 30, 1, seed=9)[0]
    state = reference.calibrated(
        reference.random_tensors(rl4co_shapes(problem, 2, batch_norm, **options)),
        lambda tools, found: rl4co_parts(tools, found, problem, instance, batch_norm),
    )
    model = import_checkpoint(write(path, state, environment(problem)))
    assert model.config.problem == problem
    reference.check_policy(
        model.policy,
        list(generate(problem, 12, 2, seed=8)),
        lambda instance: rl4co_parts(reference, state, problem, instance, batch_norm),
        "free" if batch_norm else "forced",
    )
    return model.config.kind


@pytest.mark.parametrize("problem", list(all_problems()))
def test_attention_model(reference, tmp_path, environment, problem):
    assert check_file(reference, tmp_path / "last.ckpt", environment, problem, True) == "am"


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_pomo_has_no_term_of_the_mean(reference, tmp_path, environment, problem):
    assert check_file(reference, tmp_path / "last.ckpt", environment, problem, False) == "pomo"


@pytest.mark.parametrize("problem", ["tsp", "op"])
def test_symnco(reference, tmp_path, environment, problem):
    kind = check_file(reference, tmp_path / "last.ckpt", environment, problem, True, head=True)
    assert kind == "symnco"


def test_unknown_objects_become_placeholders(reference, tmp_path, environment):
    state = reference.random_tensors(rl4co_shapes("tsp", 1, True))
    found = load_pickled(write(tmp_path / "last.ckpt", state, environment("tsp")))
    placeholder = found["hyper_parameters"]["env"]
    assert isinstance(placeholder, Inert)
    assert placeholder.kind == "rl4co_stand_in.TSPEnv"
    assert found["hyper_parameters"]["optimizer_kwargs"] == {"lr": 1e-4}


class Attack:
    """Pickles as a call of a function."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


@pytest.fixture
def attacks(tmp_path):
    target = tmp_path / "harm"
    yield {
        "system": Attack(os.system, f"touch '{target}'"),
        "eval": Attack(eval, f"open({str(target)!r}, 'w')"),
        "exec": Attack(exec, f"open({str(target)!r}, 'w')"),
    }
    assert not target.exists(), "the file was executed"


@pytest.mark.parametrize("kind", ["system", "eval", "exec"])
def test_a_checkpoint_cannot_run_code(reference, tmp_path, attacks, kind):
    state = reference.random_tensors(rl4co_shapes("tsp", 1, True))
    model = import_checkpoint(write(tmp_path / "last.ckpt", state, attacks[kind]))
    assert model.config.problem == "tsp"


@pytest.mark.parametrize("kind", ["system", "eval", "exec"])
@pytest.mark.parametrize("old_format", [False, True])
def test_neither_can_a_bare_pickle_nor_the_old_format(tmp_path, attacks, kind, old_format):
    path = tmp_path / "checkpoint.pt"
    if old_format:
        torch.save({"model": attacks[kind]}, path, _use_new_zipfile_serialization=False)
    else:
        path.write_bytes(pickle.dumps(attacks[kind]))
    with pytest.raises(InputError, match="is not a tensor" if old_format else "not a readable"):
        import_checkpoint(path)


def test_torchscript_is_not_compiled(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint.pt"
    torch.save({"model": {"a": torch.zeros(1)}}, path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("checkpoint/constants.pkl", pickle.dumps(()))
    monkeypatch.setattr(torch.jit, "load", lambda *_: pytest.fail("the archive was compiled"))
    with pytest.raises(InputError, match="TorchScript"):
        import_checkpoint(path)
