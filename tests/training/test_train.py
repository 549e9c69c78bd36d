"""Training runs: they learn, stop anywhere, and go on as if nothing had happened."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from itertools import accumulate

import pytest
import torch

from metasage.errors import InputError, MetasageError
from metasage.policies.model import load_model
from metasage.training import loop as loop_module
from metasage.training import train as train_module
from metasage.training.log import read_log
from metasage.training.settings import Stage, TrainingSettings
from metasage.training.state import sole_trainer
from metasage.training.train import train

TINY = {"width": 64, "layers": 1, "hidden": 64}
SETTINGS = TrainingSettings(
    "pomo",
    "tsp",
    (
        Stage((8,), 16, 8, 8, 1e-3),
        Stage((10, 12), 8, 10, 8, 1e-3, 1e-4, imitation=1.0, forms=4, labels=20, kicks=0.5),
        Stage((10,), 8, 1, 4, 1e-4, reinforce=0.0, imitation=1.0, kicks=0.5),
    ),
    normalise_advantages=True,
    muon=0.5,
    clip_norm=1.0,
    average=0.9,
    policy=TINY,
    validation_sizes=(10,),
    validation_count=16,
    validate_every=10,
    save_every=5,
    log_every=1,
)


def curve(folder):
    """Costs and validations of a log, without anything that depends on time."""
    timed = ("seconds", "seconds_left", "instances_per_second", "waiting")
    return [{k: v for k, v in row.items() if k not in timed} for row in read_log(folder)]


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    """Return a folder of labels that all runs share: whole shards take a while."""
    return tmp_path_factory.mktemp("labels")


@pytest.fixture(scope="module")
def whole(tmp_path_factory, labels):
    folder = tmp_path_factory.mktemp("whole")
    train(folder, SETTINGS, labels=labels)
    return folder


def test_a_run_leaves_log_model_and_picture(whole):
    rows = read_log(whole)
    steps = [row for row in rows if "norm" in row]
    assert [row["step"] for row in steps] == list(range(1, 21))
    assert [row["step"] for row in steps if "cost" in row] == list(range(1, 17))
    assert [row["step"] for row in steps if "imitation" in row] == list(range(9, 21))
    assert all(0 <= row["waiting"] <= 1 for row in steps if "imitation" in row)
    assert [row["step"] for row in rows if "validation" in row] == [0, 10, 20]
    assert (whole / "curve.png").stat().st_size > 1000
    model = load_model(whole / "model.safetensors")
    batches = [{8: 16, 10: 8, 12: 7}[row["size"]] for row in steps]
    assert {row["size"] for row in steps} == {8, 10, 12}
    assert [row["instances"] for row in steps] == list(accumulate(batches))
    assert model.provenance["instances"] == sum(batches)
    assert model.training_size == 12
    assert model.provenance["seed"] == SETTINGS.seed
    assert model.provenance["validation"] == pytest.approx(rows[-1]["validation"])


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "pctsp", "op"])
@pytest.mark.parametrize("method", ["pomo", "symnco"])
def test_training_improves_every_problem(tmp_path, method, problem):
    options = {"starts": "free"} if problem in ("pctsp", "op") else {}
    settings = TrainingSettings(
        method,
        problem,
        (Stage((10,), 64, 10, 60, 2e-3),),
        copies=2 if method == "symnco" else 1,
        invariance=0.1 if method == "symnco" else 0.0,
        normalise_advantages=True,
        clip_norm=1.0,
        policy=TINY | options,
        validation_sizes=(10,),
        validate_every=1000,
        log_every=1,
    )
    train(tmp_path, settings)
    costs = [row["cost"] for row in read_log(tmp_path) if "cost" in row]
    assert sum(costs[-10:]) < sum(costs[:10]) - 0.03 * abs(sum(costs[:10]))


def test_a_stopped_run_goes_on_exactly(tmp_path, whole, labels):
    stops = iter([7, 8, 15, 17])
    limit = next(stops)

    def stop_there(row):
        nonlocal limit
        if row["step"] == limit and "norm" in row:
            os.kill(os.getpid(), signal.SIGINT)

    train(tmp_path, SETTINGS, labels=labels, listener=stop_there)
    for limit in stops:  # noqa: B007 - read by the listener
        assert train(tmp_path, resume=True, labels=labels, listener=stop_there).interrupted
    run = train(tmp_path, resume=True, labels=labels)
    assert run.is_finished
    assert not run.interrupted
    assert curve(tmp_path) == curve(whole)
    ours, theirs = (
        load_model(f / "model.safetensors").policy.state_dict() for f in (tmp_path, whole)
    )
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_a_killed_run_goes_on_exactly(tmp_path, whole, labels):
    program = (
        "import json, sys; from metasage.training.settings import TrainingSettings;"
        "from metasage.training.train import train; folder, labels, text = sys.argv[1:];"
        "settings = TrainingSettings.from_dict(json.loads(text)) if text else None;"
        "train(folder, settings, resume=not text, labels=labels)"
    )
    patience = random.Random(time.time_ns())
    text = json.dumps(SETTINGS.to_dict())
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", program, tmp_path, labels, text])
        if not text:
            time.sleep(patience.uniform(0.5, 5.0))
        while not (tmp_path / "log.jsonl").exists() and process.poll() is None:
            time.sleep(0.05)
        time.sleep(patience.uniform(0.0, 1.0))
        process.kill()
        process.wait()
        text = ""
    train(tmp_path, resume=True, labels=labels)
    assert curve(tmp_path) == curve(whole)


def test_a_bad_step_is_skipped_and_reported(tmp_path, labels, monkeypatch):
    honest = loop_module.compute_gradients

    def poisoned(policy, engine, settings, plan, processes, bank):
        report = honest(policy, engine, settings, plan, processes, bank)
        if plan.step == 4:
            next(policy.parameters()).grad.fill_(float("nan"))
            return type(report)(report.cost, report.best, float("nan"))
        return report

    monkeypatch.setattr(loop_module, "compute_gradients", poisoned)
    run = train(tmp_path, SETTINGS, labels=labels)
    assert run.skipped == 1
    assert [row["skipped"] for row in read_log(tmp_path) if "skipped" in row] == [1]
    assert all(torch.isfinite(tensor).all() for tensor in run.policy.state_dict().values())


@pytest.mark.parametrize("engine", ["native", "torch"])
def test_weights_that_overflow_are_steps_that_are_skipped(tmp_path, labels, engine):
    def spoil(row):
        if row["step"] == 4 and "norm" in row:
            for name, weight in run.policy.named_parameters():
                if name.startswith("decoder"):
                    weight.data.fill_(torch.inf)

    run = train_module.open_run(tmp_path / "a", SETTINGS, False, torch.device("cpu"))
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(train_module, "open_run", lambda *_: run)
    (tmp_path / "a").mkdir()
    train(tmp_path / "a", SETTINGS, labels=labels, engine=engine, listener=spoil)
    monkeypatch.undo()
    rows = read_log(tmp_path / "a")
    assert [row["step"] for row in rows if "skipped" in row] == list(range(5, run.step + 1))
    assert run.is_finished


def test_a_broken_run_ends_with_an_error(tmp_path, monkeypatch):
    def broken(*arguments):
        return loop_module.StepReport(1.0, 1.0, float("nan"))

    monkeypatch.setattr(loop_module, "compute_gradients", broken)
    endless = SETTINGS.overridden(["stages.0.steps=100"])
    with pytest.raises(MetasageError, match="in a row were not finite"):
        train(tmp_path, endless)


def test_a_folder_in_which_another_process_trains_is_left_alone(tmp_path, whole):
    before = {path: path.read_bytes() for path in whole.iterdir() if path.is_file()}
    for folder in (whole, tmp_path / "new"):
        folder.mkdir(exist_ok=True)
        with sole_trainer(folder):
            for resume in (False, True):
                with pytest.raises(InputError, match="another process is training this run"):
                    train(folder, SETTINGS, resume=resume)
    assert before == {path: path.read_bytes() for path in whole.iterdir() if path.is_file()}
    assert not list((tmp_path / "new").iterdir())


def test_runs_are_not_overwritten_and_not_invented(tmp_path, whole):
    with pytest.raises(InputError, match="there is a run already"):
        train(whole, SETTINGS)
    with pytest.raises(InputError, match="no run to resume"):
        train(tmp_path / "nothing", resume=True)


def test_a_run_can_start_from_another_network(tmp_path, whole):
    settings = SETTINGS.overridden([f"start_from='{whole / 'model.safetensors'}'", "method=symnco"])
    start = train_module.open_run(tmp_path, settings, False, torch.device("cpu"))
    given = load_model(whole / "model.safetensors").policy.state_dict()
    own = start.policy.state_dict()
    assert all(torch.equal(own[name], given[name]) for name in given)
    assert "decoder.query_mean.weight" in own


def test_two_processes_learn_what_one_does(tmp_path, whole, labels):
    program = tmp_path / "pair.py"
    program.write_text(
        "import json, sys\n"
        "from metasage.training.settings import TrainingSettings\n"
        "from metasage.training.train import train\n"
        "folder, labels, text = sys.argv[1:]\n"
        "train(folder, TrainingSettings.from_dict(json.loads(text)), labels=labels)\n"
    )
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2"]
    settings = json.dumps(SETTINGS.to_dict())
    subprocess.run(
        [*launcher, "--standalone", program, tmp_path / "run", labels, settings],
        check=True,
        timeout=120,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    ours, theirs = curve(tmp_path / "run"), curve(whole)
    assert len(ours) == len(theirs)
    # The first steps are equal but for rounding, which later grows with the differences.
    pairs = [pair for pair in zip(ours, theirs, strict=True) if "norm" in pair[0]]
    for row, other in pairs[:6]:
        assert row["cost"] == pytest.approx(other["cost"], rel=1e-4)
        assert row["norm"] == pytest.approx(other["norm"], rel=1e-2)
    for row, other in pairs[8:]:
        assert row["instances"] == other["instances"]
        assert row["imitation"] == pytest.approx(other["imitation"], rel=0.02)


def test_batch_norm_over_several_processes_is_refused(tmp_path, monkeypatch):
    class Two(train_module.Processes):
        @classmethod
        def join(cls, device):
            return cls(0, 2)

    monkeypatch.setattr(train_module, "Processes", Two)
    with pytest.raises(InputError, match="batch norm"):
        train(tmp_path, SETTINGS.overridden(["policy.norm=batch"]))
