"""Signals at random moments: nothing half written, no process left, and a run goes on exactly."""

from __future__ import annotations

import json
import signal
import tempfile
import time
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import metasage
from fuzz.attack import Attack
from fuzz.networks import make_network
from fuzz.program import Program, run
from metasage.policies.metadata import open_model
from metasage.policies.sml import ScaleMetaLearner, Sml
from metasage.policies.sml_files import save_sml

_SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

# Times that a run is broken before it may go on to its end.
_MOST_KILLS = 3

_STAGE = "{sizes=[8, 6], batch=8, rollouts=4, steps=20, lr=1e-3, imitation=1.0, labels=16}"
_TRAIN = [
    "--set", f"stages=[{_STAGE}]", "--set", "policy.width=64", "--set", "policy.layers=1",
    "--set", "validation_sizes=[8]", "--set", "validation_count=4", "--set", "save_every=3",
    "--set", "log_every=2", "--threads", "1",
]  # fmt: skip
_META = [
    "--set", "sizes=[10,12]", "--set", "labels=8", "--set", "teacher_iterations=4",
    "--set", "teacher_rollouts=8", "--set", "rollouts=8", "--set", "batch=2", "--set", "steps=12",
    "--set", "validation=2", "--set", "validation_sizes=[15]", "--threads", "1",
]  # fmt: skip

# What depends on the clock.
_TIMED = ("seconds", "seconds_left", "instances_per_second", "waiting", "hours", "label_hours")


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_times(v) for k, v in value.items() if k not in _TIMED}
    return [_without_times(item) for item in value] if isinstance(value, list) else value


def _tensors(path: Path) -> dict[str, bytes]:
    with open_model(path, "numpy") as file:
        return {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118


def _log(path: Path) -> list[Any]:
    return [_without_times(json.loads(line)) for line in path.read_text().splitlines()]


class Run:
    """A command that goes on where it was broken off.

    Parameters
    ----------
    first, again
        Its arguments at first, and to go on.
    result
        Reads what it makes in the end, without anything that depends on the clock.
    """

    def __init__(self, first: list[object], again: list[object], result: Any) -> None:
        self.first, self.again, self.result = first, again, result


def _training(folder: Path) -> Run:
    command: list[object] = ["train", "pomo", "tsp", "-o", "run"]
    return Run(
        [*command, *_TRAIN],
        [*command, "--resume", "--threads", "1"],
        lambda: (_tensors(folder / "run/model.safetensors"), _log(folder / "run/log.jsonl")),
    )


def _meta_training(folder: Path) -> Run:
    make_network(Random(1), "tsp").save(folder / "network.safetensors")
    command: list[object] = ["train", "sml", "network.safetensors", "-o", "run"]
    return Run(
        [*command, *_META],
        [*command, "--resume", "--threads", "1"],
        lambda: (_tensors(folder / "run/sml.safetensors"), _log(folder / "run/log.jsonl")),
    )


def _table(folder: Path) -> Run:
    make_network(Random(1), "tsp").save(folder / "network.safetensors")
    save_sml(Sml(ScaleMetaLearner("official", 64).eval()), folder / "sml.safetensors")
    command: list[object] = [
        "reproduce", "zero-shot", "--problem", "tsp", "--limit", "1", "--threads", "1",
        "--model", "tsp=network.safetensors", "--sml", "tsp=sml.safetensors",
        "--json", "table.json",
    ]  # fmt: skip
    table = folder / "table.json"
    return Run(command, command, lambda: _without_times(json.loads(table.read_text())))


_RUNS = {"train": _training, "sml": _meta_training, "reproduce": _table}


@cache
def _unbroken(kind: str) -> tuple[Any, float]:
    """Return what an unbroken run makes, and how long it takes."""
    with tempfile.TemporaryDirectory() as folder:
        made = _RUNS[kind](Path(folder))
        began = time.monotonic()
        code = run(made.first, Path(folder))
        assert code == 0, f"{kind}: exit code {code}"
        return made.result(), time.monotonic() - began


def _break_and_go_on(kind: str, random: Random, folder: Path) -> None:
    expected, seconds = _unbroken(kind)
    made = _RUNS[kind](folder)
    arguments, code = made.first, 1
    for _ in range(random.randint(1, _MOST_KILLS)):
        program = Program(arguments, folder)
        code = program.signalled(random.choice(_SIGNALS), random.uniform(0.0, 1.1 * seconds))
        _assert_whole(folder)
        begun = (folder / "run/settings.json").exists() or kind == "reproduce"
        arguments = made.again if begun else made.first
    if code != 0:
        last = Program(arguments, folder)
        code = last.end(60.0)
    assert code == 0, f"{arguments}: exit code {code}"
    assert made.result() == expected, f"{kind}: another result than that of an unbroken run"


def _search(random: Random, folder: Path) -> None:
    """Break a solve or an evaluation, after which the targets are whole or as they were."""
    problem = random.choice(["tsp", "cvrp", "pctsp", "op"])
    instances = metasage.generate(problem, 30, 4, random.randrange(1000))
    metasage.write_set(folder / "set.npz", instances)
    target = folder / "found.json"
    target.write_text("before")
    if random.random() < 0.5:
        arguments: list[object] = ["solve", "set.npz#0", "--time-limit", 2, "--json", target]
    else:
        arguments = ["evaluate", "set.npz", "--jobs", 2, "--improve", "final", "--time-limit", 0.5,
                     "--method", "sage", "--json", target]  # fmt: skip
    signum = random.choice(_SIGNALS)
    code = Program(arguments, folder).signalled(signum, random.uniform(0.0, 5.0))
    _assert_whole(folder)
    text = target.read_text()
    assert text == "before" or isinstance(json.loads(text), dict)
    assert code in (0, 130) or signum == signal.SIGKILL, f"{arguments}: exit code {code}"
    assert code != 0 or text != "before", f"{arguments}: nothing was written"


def _assert_whole(folder: Path) -> None:
    """Complain about files that were begun and not ended."""
    for path in folder.rglob("*"):
        if path.suffix == ".json" and path.name != "found.json":
            json.loads(path.read_text())
        elif path.suffix == ".safetensors" and not path.name.startswith(".metasage-"):
            _tensors(path)


def attempt(random: Random, folder: Path) -> None:
    """Break a command with a signal at any moment."""
    kind = random.choice(["search", "search", "search", *_RUNS])
    if kind == "search":
        _search(random, folder)
    else:
        _break_and_go_on(kind, random, folder)


KILLS = Attack("kills", attempt, quick=2, patience=900.0)
