"""Signals around the end of a search: the solution is always there."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from random import Random

import metasage
from fuzz.attack import Attack
from fuzz.program import Program

_LIMITS = (1.0, 1.5, 2.0)
_SIGNALS = (signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def attempt(random: Random, folder: Path) -> None:
    """Let signals come shortly before and after a search ends."""
    problem = random.choice(["tsp", "cvrp", "pctsp", "op"])
    size, seed = random.choice([20, 100, 500]), random.randrange(1000)
    (instance,) = metasage.generate(problem, size, 1, seed)
    given, found = folder / "given.json", folder / "found.json"
    metasage.write_instance(given, instance)
    limit = random.choice(_LIMITS)
    more = random.choice([[], [], ["--plot", "found.png"], ["--plot-curve", "curve.svg"]])
    program = Program(
        ["solve", given, "--time-limit", limit, "--json", found, "-o", "best.json", *more], folder
    )
    program.wait_for_search()
    moment = random.uniform(0.6 * limit, limit + 0.3)
    while program.seconds < moment and program.process.poll() is None:
        time.sleep(0.001)
    for _ in range(random.choice([1, 1, 1, 2, 5])):
        program.process.send_signal(random.choice(_SIGNALS))
        time.sleep(random.choice([0, 0.001, 0.01]))
    code = program.end()
    assert code in (0, 130), f"exit code {code}: {program.errors}"
    for file in (found, folder / "best.json"):
        assert file.exists(), f"exit code {code} and no {file.name}: {program.errors}"
        verdict = metasage.check(instance, metasage.read_solution(file, instance))
        assert verdict.feasible, verdict.violation
    assert not list(folder.glob(".metasage-*")), "a file was left half written"


ENDING = Attack("ending", attempt, quick=2)
