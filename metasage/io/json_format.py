"""JSON: instances of every problem, and solutions as ``solve --json`` writes them."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, NoReturn

import numpy as np

from metasage.errors import InputError
from metasage.io.files import AnyPath, quoted
from metasage.io.section import LARGEST_NUMBER
from metasage.io.solution import FileSolution
from metasage.problems.base import Problem, get_problem
from metasage.problems.instance import Instance
from metasage.problems.metric import METRICS, Metric

_COMMON = ("problem", "name", "coords", "matrix", "metric", "rounding", "labels")
_BASE_FIELDS = {field.name for field in dataclasses.fields(Instance)}


def read_json(
    data: bytes, path: AnyPath, problem: str | None, name: str
) -> Instance | FileSolution:
    """Read an instance, or a solution if there are routes.

    Parameters
    ----------
    data
        The bytes of the file.
    path
        The file.
    problem
        The problem, where the file need not name it.
    name
        Name of the instance, if the file does not give it one.
    """
    content = _parse(data, path)
    if "routes" in content:
        return _solution(content, path)
    return _instance(content, problem, name)


def problem_fields(problem: Problem) -> dict[str, bool]:
    """Return the fields of a problem's own, and whether each must be given."""
    return {
        field.name: field.default is dataclasses.MISSING
        for field in dataclasses.fields(problem.instance_class)
        if field.name not in _BASE_FIELDS
    }


def _parse(data: bytes, path: AnyPath) -> dict[str, Any]:
    try:
        content = json.loads(
            data.decode("utf-8-sig"), parse_constant=_refuse, object_pairs_hook=_unique
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"this is not JSON: {error.msg.lower()} at column {error.colno}.", path, error.lineno
        ) from None
    except UnicodeDecodeError:
        raise InputError("this is not JSON: it is not encoded as UTF-8.", path) from None
    except ValueError:
        raise InputError("a number has too many digits.", path) from None
    except RecursionError:
        raise InputError("the lists are nested too deeply.", path) from None
    if not isinstance(content, dict):
        raise InputError("a JSON object was expected.", path)
    return content


def _refuse(literal: str) -> NoReturn:
    raise InputError(f"{literal} is not a finite number.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise InputError(f"the key {quoted(key)} comes twice.")
        content[key] = value
    return content


def _solution(content: dict[str, Any], path: AnyPath) -> FileSolution:
    routes, objective, problem = (content.get(k) for k in ("routes", "objective", "problem"))
    if not isinstance(routes, list) or not all(isinstance(route, list) for route in routes):
        raise InputError("'routes' is not a list of lists of node numbers.", path)
    for node in (node for route in routes for node in route):
        if type(node) is not int or abs(node) > LARGEST_NUMBER:
            raise InputError(f"{_shown(node)} in 'routes' is not a node number.", path)
    if objective is not None:
        if type(objective) not in (int, float):
            raise InputError(f"the objective is {_shown(objective)}, not a number.", path)
        objective = float(_numbers(objective, "objective"))
    if problem is not None and not isinstance(problem, str):
        raise InputError("'problem' is not a string.", path)
    return FileSolution(tuple(map(tuple, routes)), "json", objective, problem, path)


def _instance(content: dict[str, Any], asked: str | None, name: str) -> Instance:
    content = {key: value for key, value in content.items() if value is not None}
    for key in ("problem", "name", "metric", "rounding"):
        if not isinstance(content.get(key, ""), str):
            raise InputError(f"'{key}' is not a string.")
    stated = content.get("problem", asked)
    if stated is None:
        raise InputError("the key 'problem' is missing.")
    if asked not in (None, stated):
        raise InputError(f"this is an instance of {quoted(stated)}, and {asked} was asked for.")
    problem = get_problem(stated)
    own = problem_fields(problem)
    for key in content:
        if key not in _COMMON and key not in own:
            raise InputError(
                f"the key {quoted(key)} is not known; {problem.name} has "
                f"{', '.join((*_COMMON, *own))}."
            )
    for key, needed in own.items():
        if needed and key not in content:
            raise InputError(f"the key '{key}' is missing, which {problem.name} needs.")
    fields = {key: _numbers(content[key], key) for key in own if key in content}
    for key in ("coords", "matrix"):
        if key in content:
            if not isinstance(content[key], list):
                raise InputError(f"'{key}' is not a list of lists of numbers.")
            fields[key] = _numbers(content[key], key)
    if "labels" in content:
        fields["labels"] = _labels(content["labels"])
    return problem.instance_class(name=content.get("name", name), metric=_metric(content), **fields)


def _metric(content: dict[str, Any]) -> Metric:
    name = content.get("metric", "EXPLICIT" if "matrix" in content else "EXACT_2D")
    if name not in METRICS:
        raise InputError(f"the metric {quoted(name)} is not one of {', '.join(METRICS)}.")
    metric = METRICS[name]
    rounding = content.get("rounding", metric.rounding)
    return metric if rounding == metric.rounding else metric.rounded(rounding)


def _numbers(value: Any, key: str) -> Any:
    """Return a number, or nested lists of numbers, as an array."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending.extend(item)
        elif type(item) not in (int, float):
            raise InputError(f"{_shown(item)} in '{key}' is not a number.")
    try:
        return np.array(value, dtype=np.float64)
    except OverflowError:
        raise InputError(f"'{key}' holds a number that is too large.") from None
    except ValueError:
        raise InputError(f"the lists in '{key}' do not all have the same length.") from None


def _labels(value: Any) -> Any:
    numbers = _numbers(value, "labels")
    if (numbers != np.floor(numbers)).any() or (np.abs(numbers) > LARGEST_NUMBER).any():
        raise InputError("'labels' holds a value that is not a node number.")
    return numbers.astype(np.int64)


def _shown(value: Any) -> str:
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    # A huge integer has no text; whatever is not one is short or cut.
    return "a number" if type(value) is int else quoted(str(value))
