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
from metasage.solving.solve import solve
from metasage.training.log import read_log
from metasage.training.sml.labels import Label, all_labels, load_label, make_labels, teacher
from metasage.training.sml.run import open_run
from metasage.training.sml.settings import SmlSettings, sml_recipe
from metasage.training.sml.train import meta_step, size_loss, train_sml
from metasage.training.state import sole_trainer

SETTINGS = SmlSettings(
    sizes=(10, 12),
    labels=8,
    teacher_iterations=3,
    teacher_rollouts=8,
    rollouts=8,
    batch=2,
    steps=6,
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


def test_theta_is_untouched(tmp_path, model_file, whole):
    settings = replace(SETTINGS, guided=0.3)
    run = train_sml(tmp_path, str(model_file), settings, labels=whole / "labels")
    assert run.step == 6
    before = load_model(model_file).policy.state_dict()
    after = run.model.policy.state_dict()
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())


def test_training_comes_closer_to_the_teacher(tmp_path, model_file, whole):
    settings = replace(SETTINGS, zero=0.0, steps=120, lr=3e-4)
    train_sml(tmp_path / "run", str(model_file), settings, labels=whole / "labels")
    distances = [row["distance"] for row in read_log(tmp_path / "run") if "distance" in row]
    assert distances[-1] < 0.8 * distances[0]


def test_the_biased_simulation_counts_by_itself(tmp_path, model_file):
    settings = replace(SETTINGS, distil=0.0, zero=0.0, biased=1.0, fresh=True, steps=1)
    run = train_sml(tmp_path, str(model_file), settings)
    torch.manual_seed(settings.seed)
    first = ScaleMetaLearner(settings.reading, 64).state_dict()
    assert any(not torch.equal(first[n], t) for n, t in run.learner.state_dict().items())


def test_the_gradient_is_the_mean_over_all_sizes(tmp_path, model_file, whole):
    def run():
        model = load_model(model_file)
        return open_run(tmp_path, model, SETTINGS, False, whole / "labels", join=True)

    engine = get_engine("auto", load_model(model_file).config)
    parts = []
    for size in SETTINGS.sizes:
        part = run()
        size_loss(part, engine, size)[0].backward()
        parts.append([p.grad for p in part.learner.parameters()])
    assert any(not torch.allclose(a, b) for a, b in zip(*parts, strict=True))
    together = run()
    meta_step(together, engine)
    for parameter, first, second in zip(together.learner.parameters(), *parts, strict=True):
        torch.testing.assert_close(parameter.grad, (first + second) / 2)


def test_a_step_that_is_not_finite_is_skipped_and_told(tmp_path, model_file, whole, monkeypatch):
    run = open_run(tmp_path, load_model(model_file), SETTINGS, False, whole / "labels", False)
    before = {n: t.clone() for n, t in run.learner.state_dict().items()}

    def broken(run, engine, size):
        loss, parts = size_loss(run, engine, size)
        return loss + float("nan") * run.learner.output.weight.sum(), parts

    monkeypatch.setattr("metasage.training.sml.train.size_loss", broken)
    assert meta_step(run, get_engine("auto", run.model.config)) == {"skipped": 1}
    assert run.step == 1
    assert all(torch.equal(t, before[n]) for n, t in run.learner.state_dict().items())


def test_the_average_is_what_is_kept(tmp_path, model_file, whole):
    settings = replace(SETTINGS, average=0.5, steps=1, validation_sizes=())
    run = train_sml(tmp_path, str(model_file), settings, labels=whole / "labels")
    torch.manual_seed(settings.seed)
    first = ScaleMetaLearner(settings.reading, 64).state_dict()
    for name, kept in run.sml().learner.state_dict().items():
        # In the first step a tenth of the start is remembered.
        expected = 0.1 * first[name] + 0.9 * run.learner.state_dict()[name]
        torch.testing.assert_close(kept, expected, rtol=1e-3, atol=1e-4)  # half precision


def test_without_distillation_fresh_instances_need_no_labels(tmp_path, model_file):
    settings = replace(SETTINGS, distil=0.0, fresh=True, steps=2)
    train_sml(tmp_path, str(model_file), settings)
    assert not list((tmp_path / "labels").glob("*.safetensors"))
    steps = [row for row in read_log(tmp_path) if "of" in row]
    assert ["distance" in row for row in steps] == [False, False]


def test_a_stopped_run_goes_on_exactly(tmp_path, model_file, whole):
    def stop_after_three(row):
        if row.get("step") == 3 and "cost" in row:
            signal.raise_signal(signal.SIGINT)

    folder = tmp_path / "run"
    run = train_sml(folder, str(model_file), SETTINGS, listener=stop_after_three)
    assert (run.step, run.interrupted, run.is_finished) == (3, True, False)
    run = train_sml(folder, str(model_file), resume=True)
    assert (run.interrupted, run.is_finished) == (False, True)
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
    # One resumes, the other gives the same settings again and joins.
    workers = [
        subprocess.Popen([*arguments, *more], stdout=subprocess.PIPE, env=environment)
        for more in (["--resume"], given)
    ]
    made = sum(worker.communicate()[0].count(b"label ") for worker in workers)
    assert [worker.returncode for worker in workers] == [0, 0]
    after = {p.name: p.stat().st_mtime_ns for p in (folder / "labels").glob("*.safetensors")}
    assert made + len(before) == len(after) == 8
    assert before.items() <= after.items()
    for label in all_labels(SETTINGS):
        expected = load_label(label.path(whole / "labels"), {})
        torch.testing.assert_close(load_label(label.path(folder / "labels"), {}), expected)


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
    own = paper.parameters("tsp")
    assert (own["alpha"], own["alpha_end"], own["replay"]) == (1.0, 0.3, False)
    assert own["imitation"] == 0.005
    assert code.parameters("tsp")["imitation"] == 0
    assert code.guide("tsp", None).bias is None
    assert code.guide("tsp", None).temperature.end == 1.0


def test_labels_of_other_settings_are_refused(tmp_path, model_file, whole):
    settings = replace(SETTINGS, teacher_iterations=4)
    with pytest.raises(InputError, match="made with teacher_iterations 3, and this run has 4"):
        train_sml(tmp_path, str(model_file), settings, labels=whole / "labels", labels_only=True)
    assert len(list((whole / "labels").iterdir())) == 8, "none was added"


def test_a_resumed_run_remembers_where_its_labels_are(tmp_path, model_file, whole, monkeypatch):
    def stop(row):
        signal.raise_signal(signal.SIGINT)

    shared = os.path.relpath(whole / "labels")
    train_sml(tmp_path, str(model_file), SETTINGS, labels=shared, listener=stop)
    monkeypatch.chdir(tmp_path)
    assert train_sml(tmp_path, str(model_file), resume=True).is_finished
    assert not (tmp_path / "labels").exists()


def test_a_run_with_other_settings_is_not_joined(model_file, whole):
    for settings, only in ((SETTINGS, False), (replace(SETTINGS, lr=1e-5), True)):
        with pytest.raises(InputError, match="there is a run already"):
            train_sml(whole, str(model_file), settings, labels_only=only)


@pytest.mark.parametrize(("validations", "step"), [(0, 0), (1, 6)])
def test_an_interrupt_in_a_validation_is_heard(
    tmp_path, model_file, whole, monkeypatch, validations, step
):
    answers = [False] * SETTINGS.validation * validations + [True]

    def interrupted(*arguments, **options):
        found = solve(*arguments, **options)
        return replace(found, interrupted=answers.pop(0))

    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr("metasage.training.sml.validation.solve", interrupted)
        run = train_sml(folder, str(model_file), SETTINGS, labels=whole / "labels")
    assert (run.step, run.interrupted, run.is_finished) == (step, True, False)
    assert train_sml(folder, str(model_file), resume=True).is_finished
    assert rows_of(folder) == rows_of(whole)


def test_a_finished_run_that_is_resumed_stays_as_it_is(model_file, whole):
    before = (whole / "log.jsonl").read_bytes()
    assert train_sml(whole, str(model_file), resume=True).is_finished
    assert (whole / "log.jsonl").read_bytes() == before


def test_a_run_that_another_process_trains_is_left_alone(tmp_path, model_file, whole):
    labels = whole / "labels"
    open_run(tmp_path, load_model(model_file), SETTINGS, False, labels, False)
    with (
        sole_trainer(tmp_path),
        pytest.raises(InputError, match="another process is training this run"),
    ):
        train_sml(tmp_path, str(model_file), resume=True)
    assert train_sml(tmp_path, str(model_file), resume=True).is_finished


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
        ("reading=magic", "reading is 'magic'"),
        ("teacher=me", "teacher is 'me'"),
        ("labels=0", "labels is 0"),
        ("zero=-1", "zero is -1"),
        ("lr=0", "lr is 0 and must be at least 1e-09"),
        ("temperature=0", "temperature is 0 and must be at least 0.001"),
        ("average=1", "average is 1"),
        ("speed=1", "does not set a known setting"),
        ("sizes=200", "sizes is 200 and must be a list, each a whole number"),
        ("sizes=[200.5]", "each a whole number"),
        ("validation_sizes=[1]", "each at least 2"),
        ("batch=2.5", "batch is 2.5 and must be a whole number"),
        ("fresh=maybe", "fresh is 'maybe' and must be true or false"),
        ("lr=nan", "lr is nan and must be a finite number"),
        ("steps=inf", "steps is inf"),
        ("seed=-1", "seed is -1 and must be at least 0"),
    ],
)
def test_wrong_settings_are_one_sentence(assignment, sentence):
    with pytest.raises(InputError, match=sentence):
        sml_recipe("cpu", "tsp").overridden([assignment])
