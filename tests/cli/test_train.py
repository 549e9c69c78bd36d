import json
import re
import subprocess
import sys
import time

import pytest

from metasage.policies.model import load_model

SMALL = [
    "--set", "stages=[{sizes=[8], batch=8, rollouts=4, steps=4, lr=1e-3}]",
    "--set", "policy.width=64", "--set", "policy.layers=1",
    "--set", "validation_sizes=[8]", "--set", "validation_count=4", "--set", "log_every=2",
]  # fmt: skip


def test_a_run_is_trained_shown_and_its_model_solves(metasage, tmp_path):
    folder = tmp_path / "run"
    code, out, err = metasage("train", "pomo", "tsp", "-o", folder, *SMALL)
    assert (code, err) == (0, "")
    assert "step 4  N=8  cost" in out
    assert "finished after 4 steps, 32 instances" in out
    set_file = tmp_path / "set.npz"
    metasage("generate", "tsp", "--size", 8, "-o", set_file)
    model = folder / "model.safetensors"
    code, out, _ = metasage("solve", f"{set_file}#0", "--model", model, "--json", "-")
    assert code == 0
    assert json.loads(out)["feasible"]
    _, out, _ = metasage("models", "show", model, "--json", "-")
    assert json.loads(out)["provenance"]["instances"] == 32


def test_a_run_is_resumed_by_its_own_settings(metasage, tmp_path):
    folder = tmp_path / "run"
    metasage("train", "symnco", "op", "-o", folder, "--time-limit", 0, *SMALL, "--set", "copies=2",
             "--set", "start_from=''")  # fmt: skip
    code, out, _ = metasage("train", "symnco", "op", "-o", folder, "--resume")
    assert code == 0
    assert "finished after 4 steps" in out


IMITATION = [
    "--set",
    "stages=[{sizes=[8], batch=8, rollouts=4, steps=4, lr=1e-3, imitation=1.0, labels=8, kicks=0.5,"
    "reinforce=1}]",
]


def test_labels_are_imitated_and_shared(metasage, monkeypatch, tmp_path):
    monkeypatch.setattr("metasage.training.solved.SHARD_NODES", 64)
    labels = tmp_path / "labels"
    for run in ("one", "two"):
        code, out, err = metasage(
            "train", "pomo", "tsp", "-o", tmp_path / run, *SMALL, *IMITATION,
            "--labels", labels, "--neighbours", 5, "--threads", 1,
        )  # fmt: skip
        assert (code, err) == (0, "")
        assert re.search(r"step 4  N=8  cost \S+  best \S+  imitation \S+  ", out)
        assert not (tmp_path / run / "labels").exists()
        monkeypatch.setattr("metasage.training.bank.make_shard", None)  # none is made again
    assert [file.name for file in labels.iterdir()] == ["tsp-8-uniform-0.5-000000.npz"]
    settings = json.loads((tmp_path / "two" / "settings.json").read_text())
    assert settings["policy"]["neighbours"] == 5
    rows = [(tmp_path / run / "log.jsonl").read_text().splitlines()[-1] for run in ("one", "two")]
    assert len({json.loads(row)["validation"] for row in rows}) == 1


def test_imitation_alone_has_no_cost_and_labels_that_cannot_be_stored_are_told(
    metasage, monkeypatch, tmp_path
):
    monkeypatch.setattr("metasage.training.solved.SHARD_NODES", 64)
    (tmp_path / "file").write_text("in the way")
    code, out, err = metasage(
        "train", "pomo", "tsp", "-o", tmp_path / "run", *SMALL, *IMITATION,
        "--set", "stages.0.reinforce=0", "--labels", tmp_path / "file" / "labels",
        "--set", "validation_sizes=[8, 10]",
    )  # fmt: skip
    assert code == 0
    assert "step 4  N=8  imitation" in out
    assert "cost" not in out
    assert err.count("\n") == 1
    assert err.startswith("metasage: warning: labels cannot be stored")
    assert out.count("validation at N=8: ") == out.count("validation at N=10: ") == 2


def test_a_time_limit_covers_everything(tmp_path):
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "metasage.cli", "train", "pomo", "tsp", "-o", tmp_path / "run",
         "--time-limit", "20", "--set", "stages.0.imitation=1.0"],
        check=True,
        capture_output=True,
    )  # fmt: skip
    assert 14 < time.monotonic() - began < 26
    rows = (tmp_path / "run" / "log.jsonl").read_text().splitlines()
    assert any("norm" in json.loads(row) for row in rows)
    assert (tmp_path / "run" / "curve.png").stat().st_size > 1000
    assert "validation" in load_model(tmp_path / "run" / "model.safetensors").provenance


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["pomo", "op", "-o", "x"], "there is no recipe for pomo on op"),
        (["pomo", "tsp", "-o", "x", "--recipe", "magic"], "recipe 'magic'"),
        (["pomo", "tsp", "-o", "x", "--set", "speed=9"], "does not set a known setting"),
        (["pomo", "tsp", "-o", "x", "--settings", "none.toml"], "none.toml"),
        (["pomo", "tsp", "-o", "x", "--resume"], "there is no run to resume"),
        (["pomo", "tsp", "-o", "x", "--resume", "--set", "seed=1"], "keeps its settings"),
        (["pomo", "tsp", "-o", "x", "--resume", "--neighbours", "9"], "keeps its settings"),
        (["pomo", "tsp", "-o", "x", "--neighbours", "-1"], "neighbours is -1"),
        (["pomo", "tsp", "-o", "x", "--threads", "-1"], "threads is -1"),
        (["pomo", "tsp", "-o", "x", "--set", "stages.0.imitation=0"], "must be positive"),
    ],
)
def test_wrong_wishes_are_one_sentence(metasage, monkeypatch, tmp_path, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    code, _, err = metasage("train", *arguments)
    assert code == 2
    assert sentence in err
    assert err.count("\n") == 1
