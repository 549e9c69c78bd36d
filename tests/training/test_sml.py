"""Meta-training: its gradients, what it leaves alone, and how it goes on after a kill."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
import torch

from metasage.errors import InputError
from metasage.policies.config import PolicyConfig
from metasage.policies.model import Model, load_model
from metasage.policies.policy import AttentionPolicy
from metasage.policies.sml import ScaleMetaLearner
from metasage.policies.sml_files import load_sml
from metasage.rollout import get_engine
from metasage.training.log import read_log
from metasage.training.sml.labels import Label, all_labels, load_label, make_labels, teacher
from metasage.training.sml.objective import sml_loss
from metasage.training.sml.settings import SmlSettings, sml_recipe
from metasage.training.sml.train import train_sml

SETTINGS = SmlSettings(
    sizes=(10, 12),
    labels=8,
    teacher_iterations=3,
    teacher_rollouts=8,
    rollouts=8,
    batch=2,
    epochs=3,
    validation=2,
    validation_sizes=(15,),
)


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    torch.manual_seed(0)
    policy = AttentionPolicy(PolicyConfig("tsp", width=64, layers=1, hidden=64))
    path = tmp_path_factory.mktemp("model") / "tiny.safetensors"
    Model(policy.eval().requires_grad_(False)).save(path)
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory, model_file):
    folder = tmp_path_factory.mktemp("whole")
    train_sml(folder, str(model_file), SETTINGS)
    return folder


def rows_of(folder):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in read_log(folder)]


def test_a_run_leaves_labels_log_and_meta_learner(whole, model_file):
    assert len(list((whole / "labels").iterdir())) == 8
    found = load_sml(whole / "sml.safetensors")
    assert found.sizes == (10, 12)
    assert found.provenance["settings"]["labels"] == 8
    assert [row["step"] for row in rows_of(whole) if "cost" in row] == list(range(1, 7))
    assert float(found.learner.output.weight.abs().sum()) > 0


def test_theta_is_untouched(whole, model_file):
    torch.manual_seed(0)
    policy = AttentionPolicy(PolicyConfig("tsp", width=64, layers=1, hidden=64))
    now = load_model(model_file).policy.state_dict()
    assert all(torch.equal(tensor, now[name]) for name, tensor in policy.state_dict().items())


def test_training_comes_closer_to_the_teacher(tmp_path, model_file, whole):
    settings = replace(SETTINGS, zero=0.0, epochs=60, lr=3e-4)
    train_sml(tmp_path / "run", str(model_file), settings, labels=whole / "labels")
    distances = [row["distance"] for row in read_log(tmp_path / "run") if "distance" in row]
    assert distances[-1] < 0.8 * distances[0]


@pytest.mark.parametrize("reading", ["paper", "official"])
@pytest.mark.parametrize(("distil", "zero"), [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
def test_gradients_agree_with_autograd_of_the_torch_engine(model_file, reading, distil, zero):
    model = load_model(model_file)
    settings = replace(SETTINGS, distil=distil, zero=zero)
    batch = model.policy.view([Label(12, i).instance("tsp", 1) for i in range(2)])
    moved = 0.1 * torch.randn(2, 12, 64, generator=torch.Generator().manual_seed(3))
    gradients = []
    for engine in ("torch", "native"):
        torch.manual_seed(5)
        learner = ScaleMetaLearner(reading, 64)
        torch.nn.init.normal_(learner.output.weight, std=0.01)
        loss = sml_loss(
            learner, model.policy, get_engine(engine, model.config), batch, moved, settings, 7
        )
        loss.total.backward()
        gradients.append([p.grad for p in learner.parameters()])
    largest = max(float(g.abs().max()) for g in gradients[0])
    assert largest > 0
    for expected, found in zip(*gradients, strict=True):
        torch.testing.assert_close(found, expected, atol=1e-4 * largest, rtol=1e-3)


def test_the_distance_is_the_mean_of_norms(model_file):
    model = load_model(model_file)
    batch = model.policy.view([Label(10, i).instance("tsp", 1) for i in range(2)])
    moved = torch.stack([torch.ones(10, 64), 2 * torch.ones(10, 64)])
    loss = sml_loss(
        ScaleMetaLearner("official", 64), model.policy, get_engine("auto", model.config),
        batch, moved, replace(SETTINGS, zero=0.0), 1,
    )  # fmt: skip
    assert loss.distance == pytest.approx(1.5 * 640**0.5)


def test_all_sizes_count_alike(whole, model_file):
    used = {(size, i) for size in SETTINGS.sizes for i in range(SETTINGS.labels_per_size)}
    assert {(label.size, label.index) for label in all_labels(SETTINGS)} == used


def test_a_stopped_run_goes_on_exactly(tmp_path, model_file, whole):
    def stop_after_three(row):
        if row.get("step") == 3 and "cost" in row:
            signal.raise_signal(signal.SIGTERM)

    folder = tmp_path / "run"
    run = train_sml(folder, str(model_file), SETTINGS, listener=stop_after_three)
    assert run.step == 3
    assert not (folder / "sml.safetensors").exists()
    train_sml(folder, str(model_file), resume=True)
    assert rows_of(folder) == rows_of(whole)
    for name, tensor in load_sml(whole / "sml.safetensors").learner.state_dict().items():
        resumed = load_sml(folder / "sml.safetensors").learner.state_dict()[name]
        assert torch.equal(resumed, tensor)


def test_killed_label_makers_lose_and_repeat_nothing(tmp_path, model_file, whole):
    folder = tmp_path / "run"
    arguments = [sys.executable, "-m", "metasage.cli", "train", "sml", str(model_file), "-o",
                 str(folder), "--labels-only"]  # fmt: skip
    changes = {k: v for k, v in SETTINGS.to_dict().items() if k != "reading"}
    given = [a for k, v in changes.items() if k != "teacher"
             for a in ("--set", f"{k}={json.dumps(v)}")]  # fmt: skip
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    first = subprocess.Popen([*arguments, *given], stdout=subprocess.PIPE, env=environment)
    assert first.stdout is not None
    first.stdout.readline()  # one label is there
    time.sleep(random.random() * 0.05)
    first.kill()
    first.wait()
    before = {p.name: p.stat().st_mtime_ns for p in (folder / "labels").glob("*.safetensors")}
    assert len(before) >= 1
    workers = [
        subprocess.Popen([*arguments, "--resume"], stdout=subprocess.PIPE, env=environment)
        for _ in range(2)
    ]
    made = sum(worker.communicate()[0].count(b"label ") for worker in workers)
    assert [worker.returncode for worker in workers] == [0, 0]
    after = {p.name: p.stat().st_mtime_ns for p in (folder / "labels").glob("*.safetensors")}
    assert made + len(before) == len(after) == 8
    assert before.items() <= after.items()
    for label in all_labels(SETTINGS):
        expected = load_label(label.path(whole / "labels"))
        torch.testing.assert_close(load_label(label.path(folder / "labels")), expected)


def test_a_locked_label_is_left_to_its_maker(tmp_path, model_file):
    import fcntl

    model = load_model(model_file)
    held = Label(10, 0).path(tmp_path).with_suffix(".lock")
    with open(held, "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        engine = get_engine("auto", model.config)
        made = list(make_labels(tmp_path, model, engine, SETTINGS, lambda: False))
    assert Label(10, 0) not in made
    assert len(made) == 7


def test_the_teachers_of_paper_and_code():
    paper, code = teacher(SETTINGS), teacher(replace(SETTINGS, teacher="eas"))
    assert paper.adapter == code.adapter == "embedding"
    assert paper.imitation > 0
    assert paper.guide("tsp", None).bias is not None
    assert code.imitation == 0
    assert code.guide("tsp", None).bias is None
    assert code.guide("tsp", None).temperature.end == 1.0


def test_a_run_of_another_network_is_not_resumed(tmp_path, whole):
    torch.manual_seed(1)
    policy = AttentionPolicy(PolicyConfig("tsp", width=64, layers=1, hidden=64))
    other = tmp_path / "other.safetensors"
    Model(policy.eval()).save(other)
    with pytest.raises(InputError, match="network with other weights"):
        train_sml(whole, str(other), resume=True)


@pytest.mark.parametrize(
    ("assignment", "sentence"),
    [
        ("reading=magic", "reading 'magic'"),
        ("teacher=me", "teacher 'me'"),
        ("labels=0", "labels is 0"),
        ("zero=-1", "zero is -1"),
        ("lr=0", "learning rates"),
        ("speed=1", "does not set a known setting"),
    ],
)
def test_wrong_settings_are_one_sentence(assignment, sentence):
    with pytest.raises(InputError, match=sentence):
        sml_recipe("cpu").overridden([assignment])
