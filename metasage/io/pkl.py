"""Sets of instances as the field pickles them: nested lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from metasage.errors import InputError
from metasage.io.npz import build_set
from metasage.io.unpickle import count_leaves, unpickle
from metasage.problems.base import Arrays
from metasage.problems.sets import InstanceSet

# Entries of each instance; the stochastic prize of the PCTSP is not used.
_ENTRIES: dict[str, tuple[str, ...]] = {
    "cvrp": ("depot", "loc", "demand", "capacity"),
    "op": ("depot", "loc", "prize", "max_length"),
    "pctsp": ("depot", "loc", "penalty", "prize", ""),
}


def read_pkl(data: bytes, problem: str | None, name: str) -> InstanceSet:
    """Read a set.

    Parameters
    ----------
    data
        The bytes of the file.
    problem
        The problem; told by the shape and the values if it is not given.
    name
        Name of the set.
    """
    instances = unpickle(data)
    # A few bytes of shared lists can stand for more than any memory holds.
    if count_leaves(instances, len(data)) > len(data):
        raise InputError("the pickle has more entries than bytes.")
    if not _is_sequence(instances) or not all(map(_is_sequence, instances)) or not instances:
        raise InputError("the pickle is not a list of instances.")
    # An instance of the TSP is a list of points; the others have one as their second entry.
    second = instances[0][1] if len(instances[0]) > 1 else None
    if problem == "tsp" or (problem is None and not _is_list_of_points(second)):
        return build_set("tsp", {"loc": _array(instances, "loc")}, name)
    return _read_tuples(instances, problem, name)


def _read_tuples(instances: Any, problem: str | None, name: str) -> InstanceSet:
    lengths = {len(instance) for instance in instances}
    fitting = [p for p, entries in _ENTRIES.items() if lengths == {len(entries)}]
    if problem is not None:
        fitting = [p for p in fitting if p == problem]
    if not fitting:
        raise InputError(
            f"the instances of the pickle are not those of {problem or 'tsp, cvrp, op or pctsp'}."
        )
    columns = [list(column) for column in zip(*instances, strict=True)]
    problem = fitting[0] if len(fitting) == 1 else _demands_or_prizes(columns[2])
    arrays: Arrays = {
        field: _array(column, field)
        for field, column in zip(_ENTRIES[problem], columns, strict=True)
        if field
    }
    if arrays["depot"].ndim == 3 and arrays["depot"].shape[1] == 1:
        arrays["depot"] = arrays["depot"][:, 0]
    return build_set(problem, arrays, name)


def _demands_or_prizes(column: Any) -> str:
    """Tell a CVRP from an OP, whose instances have the same shape."""
    values = _array(column, "demand or prize")
    are_demands = bool((values == np.floor(values)).all() and (values >= 1).all())
    are_prizes = bool((values <= 1).all())
    if are_demands == are_prizes:
        raise InputError("the pickle may hold cvrp or op: the problem must be given.")
    return "cvrp" if are_demands else "op"


def _array(values: Any, field: str) -> Any:
    try:
        array = np.array(values)
    except ValueError:
        raise InputError(f"the instances of the pickle differ in the size of {field}.") from None
    if array.dtype.kind not in "iuf":
        raise InputError(f"{field} holds a number that is too large.")
    return array


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _is_list_of_points(value: Any) -> bool:
    return _is_sequence(value) and len(value) > 0 and _is_sequence(value[0])
