"""Writing instances, sets and solutions; the suffix of the file tells the format."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any, cast

import numpy as np

from metasage.errors import InputError
from metasage.io.files import AnyPath, located, require_path, write_atomically
from metasage.io.json_format import problem_fields
from metasage.io.keywords import cvrp_text, op_solution_text, op_text, tour_text, tsp_text
from metasage.numbers import kind_of, plain
from metasage.problems.base import check, require_instance, require_nodes, require_solution
from metasage.problems.cvrp import Cvrp
from metasage.problems.instance import Instance, Solution
from metasage.problems.op import Op
from metasage.problems.sets import InstanceSet
from metasage.problems.tsp import Tsp

_INSTANCE_TEXTS: dict[str, tuple[str, Any]] = {
    ".tsp": ("tsp", tsp_text),
    ".vrp": ("cvrp", cvrp_text),
    ".oplib": ("op", op_text),
}
_SOLUTION_SUFFIXES = {"tsp": ".tour", "cvrp": ".sol", "op": ".sol"}


def write_instance(path: AnyPath, instance: Instance) -> None:
    """Write an instance, so that reading gives every field back exactly.

    Parameters
    ----------
    path
        The file: ``.tsp``, ``.vrp``, ``.oplib`` or ``.json``.
    instance
        The instance.

    Raises
    ------
    InputError
        If the format cannot express the instance or the file cannot be written.
    """
    require_path(path)
    require_instance(instance)
    suffix = Path(path).suffix.lower()
    with located(path):
        if suffix == ".json":
            text = _instance_json(instance)
        elif suffix in _INSTANCE_TEXTS:
            problem, to_text = _INSTANCE_TEXTS[suffix]
            if problem != instance.problem.name:
                raise InputError(
                    f"an instance of {instance.problem.name} cannot be a {suffix} file."
                )
            text = to_text(instance)
        else:
            raise InputError(
                f"the suffix '{suffix}' is not one of {', '.join(_INSTANCE_TEXTS)}, .json."
            )
    write_atomically(path, text)


def write_set(path: AnyPath, instance_set: InstanceSet) -> None:
    """Write a set of instances as ``.npz``."""
    require_path(path)
    if not isinstance(instance_set, InstanceSet):
        raise InputError(f"a set was expected, and this is {kind_of(instance_set)}.")
    if Path(path).suffix.lower() != ".npz":
        raise InputError("a set is written as .npz alone.", path)
    buffer = io.BytesIO()
    np.savez(buffer, **cast(dict[str, Any], instance_set.arrays))
    write_atomically(path, buffer.getvalue())


def write_solution(
    path: AnyPath, instance: Instance, solution: Solution, objective: float | None = None
) -> None:
    """Write a solution.

    Parameters
    ----------
    path
        The file: ``.json`` for every problem, ``.tour`` for the TSP, ``.sol``
        for CVRP (CVRPLIB) and OP (OPLib).
    instance
        The instance.
    solution
        The solution.
    objective
        Its objective in the problem's own sense; by default the checker measures it.

    Raises
    ------
    InputError
        If the problem has no such format or the file cannot be written.
    """
    require_solution_suffix(path, instance)
    require_solution(solution)
    with located(path):
        require_nodes(instance, solution)
    if objective is None:
        objective = check(instance, solution).objective
        assert objective is not None
    if not math.isfinite(objective):
        raise InputError(f"the objective {objective} is not a finite number.", path)
    if Path(path).suffix.lower() == ".json":
        text = _lines(
            {
                "problem": instance.problem.name,
                "objective": plain(objective),
                "routes": solution.labelled(instance),
            }
        )
    elif isinstance(instance, Tsp):
        text = tour_text(instance, solution, objective)
    elif isinstance(instance, Op):
        text = op_solution_text(instance, solution, objective)
    else:
        text = _routes_text(cast(Cvrp, instance), solution, objective)
    write_atomically(path, text)


def require_solution_suffix(path: AnyPath, instance: Instance) -> None:
    """Complain about a file whose suffix is not that of a solution of the instance."""
    require_path(path)
    require_instance(instance)
    suffix = Path(path).suffix.lower()
    own = _SOLUTION_SUFFIXES.get(instance.problem.name)
    if suffix not in (own, ".json"):
        allowed = ".json" if own is None else f"{own} or .json"
        raise InputError(
            f"a solution of {instance.problem.name} is written as {allowed}, not '{suffix}'.", path
        )


def _routes_text(instance: Cvrp, solution: Solution, objective: float) -> str:
    # Customers are counted from 1 in the order of the file, and so are the indices.
    lines = [
        f"Route #{number}: {' '.join(map(str, route))}"
        for number, route in enumerate(solution.routes, start=1)
    ]
    return "\n".join([*lines, f"Cost {plain(objective)}", ""])


def _instance_json(instance: Instance) -> str:
    content: dict[str, Any] = {"problem": instance.problem.name, "name": instance.name}
    for key in ("coords", "matrix"):
        values = getattr(instance, key)
        if values is not None:
            content[key] = [[plain(value) for value in row] for row in values]
    content["metric"] = instance.metric.name
    if instance.matrix is None:
        content["rounding"] = instance.metric.rounding
    content["labels"] = instance.labels.tolist()
    for key in problem_fields(instance.problem):
        value = getattr(instance, key)
        if value is not None:
            content[key] = [plain(v) for v in value] if np.ndim(value) else plain(value)
    return _lines(content)


def _lines(content: dict[str, Any]) -> str:
    """Return JSON with one key on each line."""
    lines = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"
