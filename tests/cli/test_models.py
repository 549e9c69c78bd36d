"""``metasage models`` as a user sees it."""

import json
import re
import subprocess
import sys

import pytest
import torch

from metasage.errors import InputError
from metasage.policies import library
from metasage.policies.config import PolicyConfig
from metasage.policies.library import find_model, shipped_models
from metasage.policies.model import Model, load_model
from metasage.policies.policy import AttentionPolicy
from metasage.policies.sml import ScaleMetaLearner

SMALL = {"width": 16, "layers": 2, "heads": 4, "hidden": 24}


def made(problem, provenance=None, **options):
    config = PolicyConfig(problem, **(SMALL | options))
    return Model.build(config, AttentionPolicy(config).state_dict(), provenance or {})


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Two networks in the folder of the package."""
    folder = tmp_path / "weights"
    folder.mkdir()
    monkeypatch.setattr(library, "WEIGHTS", folder)
    facts = {"training size": 100, "validation": 7.912}
    made("tsp", facts).save(folder / "pomo-tsp100.safetensors")
    made("op", projection_head=True).save(folder / "symnco-op100.safetensors")
    return folder


@pytest.fixture
def checkpoint(tmp_path):
    """A published file: a small attention model for CVRP or OP."""
    shapes = {
        "init_embed.weight": (16, 3),
        "init_embed.bias": (16,),
        "init_embed_depot.weight": (16, 2),
        "init_embed_depot.bias": (16,),
        "project_node_embeddings.weight": (48, 16),
        "project_fixed_context.weight": (16, 16),
        "project_step_context.weight": (16, 17),
        "project_out.weight": (16, 16),
        "embedder.layers.0.0.module.W_out": (8, 2, 16),
        "embedder.layers.0.2.module.0.weight": (24, 16),
        "embedder.layers.0.2.module.0.bias": (24,),
        "embedder.layers.0.2.module.2.weight": (16, 24),
        "embedder.layers.0.2.module.2.bias": (16,),
    }
    for name in ("query", "key", "val"):
        shapes[f"embedder.layers.0.0.module.W_{name}"] = (8, 16, 2)
    for number in (1, 3):
        for part in ("weight", "bias", "running_mean", "running_var"):
            shapes[f"embedder.layers.0.{number}.normalizer.{part}"] = (16,)
    path = tmp_path / "epoch-99.pt"
    torch.save({"model": {name: torch.rand(shape) for name, shape in shapes.items()}}, path)
    return path


def test_list_is_a_table(metasage, shipped):
    (shipped / "sml").mkdir()
    (shipped / "sml" / "symnco-op100.safetensors").touch()
    code, out, err = metasage("models", "list")
    assert (code, err) == (0, "")
    header, first, second = (re.split(r"  +", line) for line in out.splitlines())
    assert header[5:] == ["training size", "instances", "validation", "gap", "sml", "default"]
    facts = ["tsp", "pomo", "16", "2", "100", "-", "7.912", "-", "no", "yes"]
    assert first == ["pomo-tsp100", *facts]
    assert second == ["symnco-op100", "op", "symnco", "16", "2", "-", "-", "-", "-", "yes", "yes"]
    assert metasage("models")[1] == out


def test_list_as_json(metasage, shipped, tmp_path):
    _, out, _ = metasage("models", "list", "--json", "-")
    first, second = json.loads(out)["models"]
    assert first["name"] == "pomo-tsp100"
    assert (first["training size"], first["validation"]) == (100, 7.912)
    assert (second["kind"], second["validation"]) == ("symnco", None)
    metasage("models", "list", "--json", tmp_path / "list.json")
    assert json.loads((tmp_path / "list.json").read_text()) == json.loads(out)


@pytest.mark.parametrize("there", [True, False])
def test_list_of_nothing_says_so_in_one_line(metasage, tmp_path, monkeypatch, there):
    folder = tmp_path / "weights"
    if there:
        folder.mkdir()
    monkeypatch.setattr(library, "WEIGHTS", folder)
    code, out, _ = metasage("models", "list")
    assert code == 0
    assert out == "no network comes with this installation: train or import one.\n"
    assert json.loads(metasage("models", "list", "--json", "-")[1]) == {"models": []}


def test_list_does_without_torch():
    probe = (
        "import sys; from metasage.cli.app import run;"
        "code = run(['models', 'list']); sys.exit(code or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


def test_show_by_name_and_by_file(metasage, shipped):
    code, out, _ = metasage("models", "show", "pomo-tsp100")
    assert code == 0
    for line in ("kind +pomo", "width +16", "norm +instance", "training size +100"):
        assert re.search(f"^{line}$", out, re.MULTILINE)
    _, out, _ = metasage("models", "show", shipped / "pomo-tsp100.safetensors", "--json", "-")
    facts = json.loads(out)
    assert facts["provenance"] == {"training size": 100, "validation": 7.912}
    policy = load_model(shipped / "pomo-tsp100.safetensors").policy
    assert facts["parameters"] == sum(weights.numel() for weights in policy.parameters())
    assert facts["sml parameters"] == 0


def test_import_says_what_it_recognised_and_writes_it(metasage, checkpoint, tmp_path):
    target = tmp_path / "mine.safetensors"
    code, out, err = metasage("models", "import", checkpoint, "--problem", "op", "-o", target)
    assert (code, err) == (0, "")
    model = load_model(target)
    count = sum(weights.numel() for weights in model.policy.parameters())
    assert out == (
        f"{target}: attention model checkpoint for op, am, width 16, 1 layers, {count} parameters\n"
    )
    assert model.provenance["file"] == "epoch-99.pt"
    original = torch.load(checkpoint, weights_only=True)["model"]["project_out.weight"]
    assert torch.equal(model.policy.decoder.combine.weight, original)


def test_import_reports_a_scale_meta_learner(metasage, tmp_path, monkeypatch):
    model = made("tsp", {"imported from": "pomo"})
    learner = ScaleMetaLearner("official", 16, hidden=5)
    model.sml.update({f"sml.{name}": tensor for name, tensor in learner.state_dict().items()})
    monkeypatch.setattr("metasage.policies.foreign.import_checkpoint", lambda *_: model)
    _, out, _ = metasage("models", "import", "any.pt", "-o", tmp_path / "mine.safetensors")
    assert out.endswith("parameters and 432 of a scale meta-learner\n")


def test_published_files_are_imported_on_the_fly(metasage, checkpoint):
    _, out, _ = metasage("models", "show", checkpoint, "--problem", "cvrp", "--json", "-")
    assert json.loads(out)["problem"] == "cvrp"
    assert find_model(checkpoint, "op").config.problem == "op"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["show", "pomo-tsp"], "no model 'pomo-tsp': the package has pomo-tsp100, symnco-op100,"),
        (["show", "mine.safetensors"], "metasage: mine.safetensors: the file does not exist."),
        (["show", "mine.pt"], "metasage: mine.pt: the file does not exist."),
        (["show", "some/where"], "metasage: some/where: the file does not exist."),
        (["show", "."], "metasage: .: this is a folder"),
        (["show", "epoch-99.pt"], "fit both cvrp and op: say which with --problem."),
        (["import", "epoch-99.pt", "-o", "x.safetensors"], "metasage: epoch-99.pt: the tensors"),
        (["import", "epoch-99.pt", "-o", "x.pt"], "metasage: x.pt: a model is written as"),
        (["import", "epoch-99.pt"], "Missing option"),
        (["import", "epoch-99.pt", "--problem", "op", "-o", "no/x.safetensors"], "no/x.safetens"),
        (["fly"], "No such command 'fly'"),
    ],
)
def test_errors_are_one_line(
    metasage, shipped, checkpoint, tmp_path, monkeypatch, arguments, sentence
):
    monkeypatch.chdir(tmp_path)
    code, out, err = metasage("models", *arguments)
    assert code == 2
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1
    assert not (tmp_path / "x.safetensors").exists()


def test_a_broken_file_in_the_package_is_named(metasage, shipped):
    (shipped / "broken.safetensors").write_bytes(b"oops")
    code, _, err = metasage("models", "list")
    assert code == 2
    assert "broken.safetensors: this is not a model of metasage" in err


def test_names_come_before_files(shipped, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pomo-tsp100").write_text("a file of the same name")
    assert find_model("pomo-tsp100").config.problem == "tsp"
    assert list(shipped_models()) == ["pomo-tsp100", "symnco-op100"]
    with pytest.raises(InputError, match="the package has pomo-tsp100"):
        find_model("unknown")
