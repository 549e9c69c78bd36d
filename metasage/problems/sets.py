"""Sets of random instances of one problem and one size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from metasage.errors import InputError
from metasage.numbers import kind_of
from metasage.problems.base import Arrays, Problem, all_problems, get_problem
from metasage.problems.instance import Instance
from metasage.problems.layout import Layout


@dataclass(frozen=True, eq=False)
class InstanceSet:
    """Instances of one problem and one size, kept as arrays.

    Parameters
    ----------
    problem
        The problem.
    arrays
        One array a field; the first axis counts the instances.
    name
        Name of the set.
    """

    problem: Problem
    arrays: Arrays = field(repr=False)
    name: str = ""

    def __post_init__(self) -> None:
        checked = {}
        missing = [name for name in self.problem.set_fields if name not in self.arrays]
        if missing:
            raise InputError(f"a set of {self.problem.name} needs the array '{missing[0]}'.")
        loc = np.asarray(self.arrays["loc"])
        if loc.ndim != 3 or loc.shape[2] != 2 or 0 in loc.shape:
            raise InputError(f"loc has the shape {loc.shape} and not (instances, nodes, 2).")
        count, size, _ = loc.shape
        shapes = {
            "loc": loc.shape,
            "depot": (count, 2),
            "capacity": (count,),
            "max_length": (count,),
        }
        for name in self.problem.set_fields:
            array = np.asarray(self.arrays[name])
            if array.dtype.kind not in "iuf":
                raise InputError(f"the array '{name}' holds {array.dtype} and not numbers.")
            shape = shapes.get(name, (count, size))
            if array.shape != shape:
                raise InputError(f"{name} has the shape {array.shape} and not {shape}.")
            checked[name] = array
        object.__setattr__(self, "arrays", checked)

    @property
    def size(self) -> int:
        """Number of nodes to be visited in each instance."""
        return int(self.arrays["loc"].shape[1])

    def __len__(self) -> int:
        return len(self.arrays["loc"])

    def __getitem__(self, index: int) -> Instance:
        if not 0 <= index < len(self):
            raise InputError(f"instance #{index} does not exist: the set has {len(self)}.")
        row: Any = {name: array[index] for name, array in self.arrays.items()}
        return self.problem.from_arrays(row, name=f"{self.name}#{index}")

    def __iter__(self) -> Iterator[Instance]:
        return (self[index] for index in range(len(self)))


def generate(
    problem: str | Problem,
    size: int,
    count: int = 1,
    seed: int = 1234,
    layout: Layout = "uniform",
    **constants: float,
) -> InstanceSet:
    """Generate a set as the published recipes do; see `Problem.generate`."""
    if not isinstance(problem, str | Problem):
        raise InputError(f"a problem or its name was expected, and this is {kind_of(problem)}.")
    problem = get_problem(problem) if isinstance(problem, str) else problem
    arrays = problem.generate(size, count, seed, layout, False, **constants)
    return InstanceSet(problem, arrays, name=f"{problem.name}{size}_seed{seed}")


def guess_problem(fields: set[str]) -> Problem:
    """Tell the problem of a set by the names of its arrays."""
    fitting = [p for p in all_problems().values() if set(p.set_fields) <= fields]
    if not fitting:
        raise InputError(f"no problem has just the arrays {', '.join(sorted(fields)) or '(none)'}.")
    # TSP's fields are part of every other problem's.
    return max(fitting, key=lambda p: len(p.set_fields))
