"""Time limits on a busy machine: kept, whatever the problem, the size and the method."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

import metasage
from fuzz.attack import Attack
from fuzz.program import Program, busy_loops

# A limit may be missed by so much: seconds, or a share of it.
SECONDS, SHARE = 1.0, 0.05

_BUSY = 2


def attempt(random: Random, folder: Path) -> None:
    """Solve under a limit while other programs keep the cores busy."""
    problem = random.choice(["tsp", "cvrp", "pctsp", "op"])
    size = round(math.exp(random.uniform(0.0, math.log(100_000))))
    limit = round(math.exp(random.uniform(0.0, math.log(60.0))), 1)
    (instance,) = metasage.generate(problem, size, 1, random.randrange(1000))
    given = folder / "given.json"
    metasage.write_instance(given, instance)
    more = random.choice(
        [
            [],
            [],
            ["--method", "sage"],
            ["--method", random.choice(["greedy", "sample", "as", "eas-lay", "eas-emb", "sgbs"])],
            ["--method", "sage", "--rollouts", "1000000000"],
            ["--plot", "picture.png", "--plot-curve", "curve.png"],
        ]
    )
    with busy_loops(_BUSY):
        program = Program(["solve", given, "--time-limit", limit, "-o", "a.json", *more], folder)
        code = program.end(limit + 60.0)
        seconds = program.seconds
    what = f"{problem} of {size} nodes, {limit} s {more}"
    assert code == 0 or (code == 2 and not (folder / "a.json").exists()), (
        f"{what}: exit code {code}, {program.errors}"
    )
    allowed = limit + max(SECONDS, SHARE * limit)
    assert seconds <= allowed, f"{what}: {seconds:.2f} s, {program.errors}"


LIMITS = Attack("limits", attempt, quick=0, patience=300.0)
