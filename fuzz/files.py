"""Damaged files of every format: read and solved, or refused in one sentence."""

from __future__ import annotations

from pathlib import Path
from random import Random

import metasage
from fuzz.attack import Attack, allowed
from fuzz.mutation import mutate
from fuzz.samples import SAMPLES
from metasage.errors import InputError
from metasage.io import FileSolution, read
from metasage.problems import Instance
from metasage.problems.sets import InstanceSet

# Share of the files that can be read whose instances are also solved, and written again.
_SOLVED = 0.2


def outcome(path: Path) -> str:
    """Read a file; whatever is not a result or a proper refusal is raised."""
    try:
        content = read(path)
    except InputError as error:
        text = str(error)
        assert text.startswith(f"{path}:")
        assert text.endswith(".")
        assert len(text.splitlines()) == 1
        assert len(text) < 600
        return "refused"
    assert isinstance(content, (Instance, InstanceSet, FileSolution))
    if isinstance(content, InstanceSet):
        assert [instance.size for instance in content] == [content.size] * len(content)
    return "read"


def attempt(random: Random, folder: Path) -> None:
    """Damage a file in some places, and read it."""
    data = SAMPLES[random.choice(list(SAMPLES))]
    for _ in range(random.randint(1, 4)):
        data = mutate(data, random) or b"x"
    path = folder / "damaged"
    path.write_bytes(data)
    if outcome(path) == "refused" or random.random() > _SOLVED:
        return
    content = read(path)
    if isinstance(content, Instance):
        with allowed():
            result = metasage.solve(content, time_limit=0.05, threads=1)
            target = folder / random.choice(["a.sol", "a.json", "a.tour"])
            metasage.write_solution(target, content, result.best)
            again = metasage.read_solution(target, content)
            assert metasage.check(content, again).objective == result.objective


FILES = Attack("files", attempt, quick=1500)
