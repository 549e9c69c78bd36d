import json

import pytest
import torch

from metasage.experiments.base import Profile
from metasage.experiments.zero_shot import ZeroShot
from metasage.policies.config import PolicyConfig
from metasage.policies.model import Model
from metasage.policies.policy import AttentionPolicy


@pytest.fixture
def network(tmp_path):
    torch.manual_seed(0)
    policy = AttentionPolicy(PolicyConfig("tsp", width=64, layers=1, hidden=64))
    path = tmp_path / "tiny.safetensors"
    Model(policy.eval().requires_grad_(False)).save(path)
    return path


SMALL = ["--set", "labels=4", "--set", "sizes=[8,9]", "--set", "teacher_iterations=2",
         "--set", "steps=1", "--set", "validation_sizes=[10]"]  # fmt: skip


def test_a_meta_learner_is_trained_used_and_judged(metasage, network, tmp_path, monkeypatch):
    monkeypatch.setattr(ZeroShot, "cpu", Profile({12: 3}))
    code, out, err = metasage("train", "sml", network, "-o", tmp_path / "run", *SMALL)
    assert (code, err) == (0, "")
    assert "label 4 of 4" in out
    assert "zero-shot with meta-learner: N=10" in out
    code, out, _ = metasage("train", "sml", network, "-o", tmp_path / "run", "--resume")
    assert "finished after 1 of 1 steps" in out

    sml = tmp_path / "run" / "sml.safetensors"
    metasage("generate", "tsp", "--size", 9, "-o", tmp_path / "set.npz")
    code, out, err = metasage(
        "solve", f"{tmp_path}/set.npz#0", "--model", network, "--sml", sml, "--method", "sage",
        "--iterations", 2, "--json", "-",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert json.loads(out)["sml"] == str(sml)

    command = ["reproduce", "zero-shot", "--problem", "tsp", "--limit", 2, "-o", tmp_path / "out",
               "--model", f"tsp={network}", "--sml", f"tsp={sml}"]  # fmt: skip
    code, out, err = metasage(*command, "--json", "-")
    assert code == 0
    table = json.loads(out)
    assert table["columns"][:3] == ["problem", "N", "instances"]
    assert table["rows"][0][:3] == ["tsp", 12, 2]
    assert len([line for line in err.splitlines() if line.startswith("tsp 12 #")]) == 4
    assert (tmp_path / "out/zero-shot/zero-shot-tsp-first-2.md").exists()
    code, out, err = metasage(*command)
    assert "gain in %" in out
    assert "tsp 12 #" not in err, "nothing is searched twice"


def test_the_list_names_all_experiments(metasage):
    code, out, _ = metasage("reproduce", "list")
    assert code == 0
    names = {line.split()[0] for line in out.splitlines()[1:]}
    assert names == {"main", "zero-shot", "sml-gain", "embedding-distance", "scale-matching",
                     "sml-objectives", "components", "curves", "cvrplib"}  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["magic"], "experiment 'magic' is not one of"),
        (["zero-shot", "--profile", "gpu"], "profile 'gpu'"),
        (["zero-shot", "--problem", "knapsack"], "no part on 'knapsack'"),
        (["cvrplib"], "name the folder of the X instances by --data"),
        (["cvrplib", "--data", "nowhere"], "there is no .vrp file in this folder"),
        (["components", "--problem", "op"], "components has no part on 'op'"),
        (["zero-shot", "--model", "tsp"], "not of the form PROBLEM=NAME"),
        (["zero-shot", "--limit", "0"], "limit is 0"),
        (["zero-shot", "--model", "tsp=none.safetensors"], "none.safetensors"),
    ],
)
def test_wrong_wishes_are_one_sentence(metasage, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    code, _, err = metasage("reproduce", *arguments)
    assert code == 2
    assert sentence in err
    assert err.count("\n") == 1
