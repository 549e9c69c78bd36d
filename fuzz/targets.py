"""Full disks and targets that cannot be written: one sentence, and earlier files stay."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from random import Random

import metasage
from fuzz.attack import Attack, assert_sentence
from fuzz.program import Program

_TRAIN = [
    "train", "pomo", "tsp", "--set", "stages=[{sizes=[6],batch=2,rollouts=2,steps=2,lr=1e-3}]",
    "--set", "policy.width=64", "--set", "policy.layers=1", "--set", "validation_sizes=[6]",
    "--set", "validation_count=2",
]  # fmt: skip


def _commands(target: str) -> list[list[str]]:
    solve = ["solve", "given.json", "--time-limit", "1"]
    return [
        [*solve, "-o", f"{target}.json"],
        [*solve, "--json", f"{target}.json"],
        [*solve, "--plot", f"{target}.png"],
        [*solve, "--plot-curve", f"{target}.svg", "-o", "other.sol"],
        ["evaluate", "given.npz", "--json", f"{target}.json"],
        ["generate", "op", "--size", "9", "--count", "9", "-o", f"{target}.npz"],
        ["check", "given.json", "given.sol", "--json", f"{target}.json"],
        [*_TRAIN, "-o", f"{target}.run"],
    ]


def _full(most: int) -> Callable[[], None]:
    def prepare() -> None:
        # Writing fails as on a full disk, rather than ending the process.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return prepare


def attempt(random: Random, folder: Path) -> None:
    """Let a command write where it cannot, or not all."""
    instances = metasage.generate("cvrp", 12, 1, random.randrange(100))
    instance = instances[0]
    metasage.write_instance(folder / "given.json", instance)
    metasage.write_set(folder / "given.npz", instances)
    every = metasage.Solution([[node] for node in range(1, 13)])
    metasage.write_solution(folder / "given.sol", instance, every)
    places = {
        "full": "there",
        "folder": "a-folder/there",
        "missing": "missing/there",
        "file": "given.json/there",
        "device": "/proc/there",
        "long": "x" * 300,
    }
    kind = random.choice([*places, "full", "full", "full"])
    (folder / "a-folder").mkdir()
    arguments = random.choice(_commands(places[kind]))
    target = next(Path(folder, text) for text in arguments if places[kind] in text)
    if kind == "folder":
        target.mkdir()
    elif kind == "full" and random.random() < 0.5 and target.suffix != ".run":
        target.write_text("before")
    before = target.read_bytes() if os.path.isfile(target) else None
    prepare = _full(random.choice([0, 1, 100, 1000, 5000, 20000])) if kind == "full" else None
    program = Program(arguments, folder, prepare)
    code = program.end(60.0)
    if target.suffix != ".run":
        left = [path.name for path in target.parent.glob(".metasage-*")] if code else []
        assert not left, f"{arguments}: {left}"
        assert code in (0, 2), f"{arguments}: exit code {code}, {program.errors}"
        if code == 2 and os.path.isfile(target):
            assert target.read_bytes() == before, f"{arguments}: the earlier file is gone"
    if code and (lines := program.errors.splitlines()):
        assert_sentence(lines[-1])


TARGETS = Attack("targets", attempt, quick=3)
