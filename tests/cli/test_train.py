import json

import pytest

SMALL = [
    "--set", "stages=[{size=8, batch=8, rollouts=4, steps=4, lr=1e-3}]",
    "--set", "policy.width=64", "--set", "policy.layers=1",
    "--set", "validation_size=8", "--set", "validation_count=4", "--set", "log_every=2",
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


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["pomo", "op", "-o", "x"], "there is no recipe for pomo on op"),
        (["pomo", "tsp", "-o", "x", "--recipe", "magic"], "recipe 'magic'"),
        (["pomo", "tsp", "-o", "x", "--set", "speed=9"], "does not set a known setting"),
        (["pomo", "tsp", "-o", "x", "--settings", "none.toml"], "none.toml"),
        (["pomo", "tsp", "-o", "x", "--resume"], "there is no run to resume"),
        (["pomo", "tsp", "-o", "x", "--resume", "--set", "seed=1"], "keeps its settings"),
    ],
)
def test_wrong_wishes_are_one_sentence(metasage, monkeypatch, tmp_path, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    code, _, err = metasage("train", *arguments)
    assert code == 2
    assert sentence in err
    assert err.count("\n") == 1
