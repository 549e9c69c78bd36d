"""Files that are not what they should be: one sentence with the path, no traceback."""

import json

import pytest
import torch

from fuzz.foreign import HIDDEN, WIDTH, pomo_tensors
from metasage.errors import InputError
from metasage.policies.config import PolicyConfig
from metasage.policies.foreign import import_checkpoint
from metasage.policies.model import Model
from metasage.policies.policy import AttentionPolicy


@pytest.fixture
def pomo_state():
    """A small POMO network for the TSP."""
    return {name: torch.zeros_like(tensor) for name, tensor in pomo_tensors().items()}


@pytest.fixture
def am_state():
    """A small attention model, of the shape that CVRP and OP share."""
    square, layer = (WIDTH, WIDTH), "embedder.layers.0"
    shapes = {
        "init_embed.weight": (WIDTH, 3),
        "init_embed.bias": (WIDTH,),
        "init_embed_depot.weight": (WIDTH, 2),
        "init_embed_depot.bias": (WIDTH,),
        f"{layer}.0.module.W_out": (4, 4, WIDTH),
        f"{layer}.2.module.0.weight": (HIDDEN, WIDTH),
        f"{layer}.2.module.0.bias": (HIDDEN,),
        f"{layer}.2.module.2.weight": (WIDTH, HIDDEN),
        f"{layer}.2.module.2.bias": (WIDTH,),
        "project_node_embeddings.weight": (3 * WIDTH, WIDTH),
        "project_fixed_context.weight": square,
        "project_step_context.weight": (WIDTH, WIDTH + 1),
        "project_out.weight": square,
    }
    shapes |= {f"{layer}.0.module.W_{name}": (4, WIDTH, 4) for name in ("query", "key", "val")}
    for number in (1, 3):
        for part in ("weight", "bias", "running_mean", "running_var"):
            shapes[f"{layer}.{number}.normalizer.{part}"] = (WIDTH,)
    return {name: torch.ones(shape) for name, shape in shapes.items()}


def refused(path, problem=None):
    """Return the sentence with which a file is refused."""
    with pytest.raises(InputError) as caught:
        import_checkpoint(path, problem)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    assert text.endswith(".")
    return text.removeprefix(f"{path}: ")


def saved(path, content):
    torch.save(content, path)
    return path


def test_the_small_networks_are_fine(tmp_path, pomo_state, am_state):
    assert import_checkpoint(saved(tmp_path / "a.pt", pomo_state)).config.problem == "tsp"
    path = saved(tmp_path / "b.pt", {"model": am_state})
    assert import_checkpoint(path, "cvrp").config.problem == "cvrp"


@pytest.mark.parametrize(
    "name",
    [
        "encoder.embedding.bias",
        "encoder.layers.0.Wk.weight",
        "encoder.layers.0.addAndNormalization2.norm.bias",
        "encoder.layers.0.feedForward.W2.weight",
        "decoder.Wv.weight",
        "decoder.multi_head_combine.bias",
    ],
)
def test_a_missing_tensor(tmp_path, pomo_state, name):
    del pomo_state[name]
    sentence = refused(saved(tmp_path / "checkpoint.pt", {"model_state_dict": pomo_state}))
    assert sentence == f"the tensor '{name}' is missing."


@pytest.mark.parametrize(
    "name", ["decoder.Wq_extra.weight", "encoder.layers.2.Wq.weight", "encoder.embedding_node.bias"]
)
def test_a_tensor_too_many(tmp_path, pomo_state, name):
    pomo_state[name] = torch.zeros(WIDTH, WIDTH)
    sentence = refused(saved(tmp_path / "checkpoint.pt", pomo_state))
    assert sentence == f"the tensor '{name}' has no place in a known network."


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("decoder.Wk.weight", (WIDTH, WIDTH + 1)),
        ("encoder.embedding.weight", (WIDTH, 3)),
        ("encoder.embedding.bias", (1, WIDTH)),
        ("encoder.layers.0.feedForward.W2.weight", (WIDTH, HIDDEN - 1)),
        ("decoder.multi_head_combine.bias", ()),
    ],
)
def test_a_wrong_shape(tmp_path, pomo_state, name, shape):
    pomo_state[name] = torch.zeros(shape)
    sentence = refused(saved(tmp_path / "checkpoint.pt", pomo_state))
    assert sentence.startswith(f"the tensor '{name}' has the shape {shape} and not ")


def test_heads_that_do_not_make_up_the_width(tmp_path, am_state):
    for name in ("query", "key", "val"):
        am_state[f"embedder.layers.0.0.module.W_{name}"] = torch.zeros(4, WIDTH, 3)
    am_state["embedder.layers.0.0.module.W_out"] = torch.zeros(4, 3, WIDTH)
    assert "(4, 16, 3) and not (4, 16, 4)" in refused(saved(tmp_path / "a.pt", am_state), "op")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_no_number(tmp_path, pomo_state, value):
    pomo_state["decoder.Wv.weight"][3, 4] = value
    sentence = refused(saved(tmp_path / "checkpoint.pt", pomo_state))
    assert sentence == "the tensor 'decoder.Wv.weight' holds a value that is not a finite number."


def test_a_scale_meta_learner_in_part(tmp_path, pomo_state):
    pomo_state["cond_1.0.weight"] = torch.zeros(WIDTH, 1)
    sentence = refused(saved(tmp_path / "checkpoint.pt", pomo_state))
    assert sentence == "the tensor 'proj_N_h.0.weight' is missing."


def test_cvrp_or_op(tmp_path, am_state):
    path = saved(tmp_path / "epoch-99.pt", {"model": am_state})
    assert "fit both cvrp and op" in refused(path)
    arguments = tmp_path / "args.json"
    for useless in ("{", "[]", '{"problem": "sdvrp"}'):
        arguments.write_text(useless)
        assert "--problem" in refused(path)
    assert import_checkpoint(path, "cvrp").config.problem == "cvrp"
    assert "init_embed.weight" in refused(path, "pctsp")
    assert "is not one of" in refused(path, "vrp")
    arguments.write_text(json.dumps({"problem": "op_dist"}))
    assert import_checkpoint(path).config.problem == "op"
    assert import_checkpoint(path, "op").config.problem == "op"
    assert refused(path, "cvrp") == "the network was trained for op and not for cvrp."


def test_another_problem_than_the_tensors_tell(tmp_path, pomo_state):
    path = saved(tmp_path / "checkpoint.pt", pomo_state)
    assert refused(path, "cvrp") == "the network was trained for tsp and not for cvrp."


def test_files_that_torch_did_not_write(tmp_path, pomo_state):
    path = tmp_path / "checkpoint.pt"
    for content in (b"hello\n", bytes(range(256)) * 9, b"PK\x03\x04" + b"\xff" * 99):
        path.write_bytes(content)
        assert "not a readable torch file" in refused(path)
    whole = saved(path, pomo_state).read_bytes()
    for length in (3, 5, len(whole) // 2, len(whole) - 9):
        path.write_bytes(whole[:length])
        assert "not a readable torch file" in refused(path)


def test_places_without_a_file(tmp_path):
    assert "folder" in refused(tmp_path)
    assert "does not exist" in refused(tmp_path / "missing.pt")


@pytest.mark.parametrize(
    "content",
    [
        [torch.zeros(1)],
        {},
        {"model": {}},
        {"lr": 0.1},
        {"a": torch.zeros(1)},
        {3: torch.zeros(1)},
        7,
    ],
)
def test_torch_files_without_a_network(tmp_path, content):
    assert refused(saved(tmp_path / "checkpoint.pt", content))


# -- our own files ---------------------------------------------------------


CONFIG = PolicyConfig("cvrp", width=WIDTH, layers=1, heads=4, hidden=HIDDEN)


def test_tensors_must_fit_the_architecture():
    state = AttentionPolicy(CONFIG).state_dict()
    name = "decoder.key.weight"
    cases = {
        "is missing": {key: value for key, value in state.items() if key != name},
        "not part of the policy": state | {"decoder.extra": torch.zeros(1)},
        "has the shape": state | {name: torch.zeros(2, 2)},
        "not a finite number": state | {name: torch.full((WIDTH, WIDTH), torch.inf)},
        "'sml.x' holds": state | {"sml.x": torch.tensor([torch.nan])},
    }
    for sentence, tensors in cases.items():
        with pytest.raises(InputError, match=sentence):
            Model.build(CONFIG, tensors, {})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("width", 0),
        ("width", 7),
        ("layers", 1.5),
        ("norm", "layer"),
        ("starts", "both"),
        ("clip", -1.0),
        ("problem", "vrp"),
        ("colour", "red"),
    ],
)
def test_architectures_that_are_not(option, value):
    with pytest.raises(InputError):
        PolicyConfig.from_dict(CONFIG.to_dict() | {option: value})
