"""Instances and tours as files of keywords and sections."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from metasage.errors import InputError
from metasage.io.section import LARGEST_NUMBER
from metasage.numbers import plain
from metasage.problems.cvrp import Cvrp
from metasage.problems.instance import Instance, Solution
from metasage.problems.metric import METRICS, Floats, Indices
from metasage.problems.op import Op
from metasage.problems.tsp import Tsp


def tsp_text(instance: Tsp) -> str:
    """Return an instance of the TSP in TSPLIB's format."""
    order = _file_order(instance)
    if instance.coords is None and instance.labels[order[0]] != 1:
        raise InputError(
            "the nodes are not numbered from 1, which a .tsp file without "
            "coordinates cannot express; .json can."
        )
    return _text(
        [f"NAME : {_one_line(instance.name)}", _type(instance), *_head(instance)],
        _places(instance, order),
    )


def cvrp_text(instance: Cvrp) -> str:
    """Return an instance of the CVRP in CVRPLIB's format."""
    if instance.demand[0] != 0:
        raise InputError("the depot has a demand, which a .vrp file cannot express; .json can.")
    order = _file_order(instance)
    return _text(
        [
            f"NAME : {_one_line(instance.name)}",
            _type(instance),
            *_head(instance),
            f"CAPACITY : {plain(instance.capacity)}",
            *_limits(instance),
        ],
        _places(instance, order),
        _per_node("DEMAND_SECTION", instance, instance.demand, order),
        _service_times(instance, order),
        _depot(instance),
    )


def op_text(instance: Op) -> str:
    """Return an instance of the OP in OPLib's format."""
    order = _file_order(instance)
    return _text(
        [
            f"NAME : {_one_line(instance.name)}",
            _type(instance),
            *_head(instance),
            f"COST_LIMIT : {plain(instance.max_length)}",
        ],
        _places(instance, order),
        _per_node("NODE_SCORE_SECTION", instance, instance.prize, order),
        _depot(instance),
    )


def tour_text(instance: Tsp, solution: Solution, objective: float) -> str:
    """Return a tour in TSPLIB's format."""
    nodes = [node for route in solution.labelled(instance) for node in route]
    return _text(
        [
            f"NAME : {_one_line(instance.name)}",
            f"COMMENT : length {plain(objective)}",
            "TYPE : TOUR",
            f"DIMENSION : {len(nodes)}",
            "TOUR_SECTION",
        ],
        map(str, nodes),
        ["-1"],
    )


def op_solution_text(instance: Op, solution: Solution, objective: float) -> str:
    """Return a solution of the OP in OPLib's format."""
    tour = [0, *(node for route in solution.routes for node in route)]
    length = instance.tour_length(np.array(tour))
    return _text(
        [
            f"NAME : {_one_line(instance.name)}",
            "TYPE : OP",
            f"DIMENSION : {instance.num_nodes}",
            f"COST_LIMIT : {plain(instance.max_length)}",
            f"ROUTE_NODES : {len(tour)}",
            f"ROUTE_SCORE : {plain(objective)}",
            f"ROUTE_COST : {plain(length)}",
            "NODE_SEQUENCE_SECTION",
        ],
        (str(instance.labels[node]) for node in tour),
        ["-1"],
        _depot(instance),
    )


def _text(*parts: Iterable[str]) -> str:
    return "\n".join([line for part in parts for line in part] + ["EOF", ""])


def _one_line(name: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())


def _type(instance: Instance) -> str:
    return f"TYPE : {'A' * instance.is_directed}{instance.problem.name.upper()}"


def _head(instance: Instance) -> list[str]:
    """Return the keys that all problems have."""
    metric = instance.metric
    named = [
        m for m in METRICS.values() if (m.measure, m.rounding) == (metric.measure, metric.rounding)
    ]
    if not named:
        raise InputError(
            f"lengths of {metric.name} with the rounding '{metric.rounding}' have no "
            "EDGE_WEIGHT_TYPE; .json can express them."
        )
    lines = [f"DIMENSION : {instance.num_nodes}", f"EDGE_WEIGHT_TYPE : {named[0].name}"]
    if instance.matrix is not None:
        lines.append("EDGE_WEIGHT_FORMAT : FULL_MATRIX")
    return lines


def _file_order(instance: Instance) -> Indices:
    """Return the order in which the nodes are listed."""
    labels = instance.labels
    if labels.min() < 0 or labels.max() > LARGEST_NUMBER:
        raise InputError("a node number is negative or too large; .json can express it.")
    if instance.matrix is None:
        return np.arange(instance.num_nodes)
    # Rows of a matrix are counted on, and the depot is wherever its number puts it.
    first = int(instance.problem.has_depot)
    order = np.argsort(labels)
    if labels.max() - labels.min() != len(labels) - 1 or (np.diff(labels[first:]) < 0).any():
        raise InputError(
            "the nodes are not numbered on end, which a file with a matrix "
            "cannot express; .json can."
        )
    return order


def _places(instance: Instance, order: Indices) -> list[str]:
    lines = []
    if instance.matrix is not None:
        lines.append("EDGE_WEIGHT_SECTION")
        for row in instance.matrix[np.ix_(order, order)]:
            lines.append(" ".join(str(plain(value)) for value in row))
    if instance.coords is not None:
        lines.append("DISPLAY_DATA_SECTION" if lines else "NODE_COORD_SECTION")
        for node in order:
            x, y = instance.coords[node]
            lines.append(f"{instance.labels[node]} {plain(x)} {plain(y)}")
    return lines


def _per_node(section: str, instance: Instance, values: Floats, order: Indices) -> list[str]:
    return [section, *(f"{instance.labels[node]} {plain(values[node])}" for node in order)]


def _limits(instance: Cvrp) -> list[str]:
    """Return the keys of what is limited beside the load."""
    keys = {
        "VEHICLES": instance.vehicles,
        "DISTANCE": instance.max_route_length,
        "SERVICE_TIME": _common_service_time(instance),
    }
    return [f"{key} : {plain(value)}" for key, value in keys.items() if value is not None]


def _service_times(instance: Cvrp, order: Indices) -> list[str]:
    if instance.service_time is None or _common_service_time(instance) is not None:
        return []
    return _per_node("SERVICE_TIME_SECTION", instance, instance.service_time, order)


def _common_service_time(instance: Cvrp) -> float | None:
    """Return the service time of every customer, if it is one number, which 0 would not be."""
    times = [] if instance.service_time is None else np.unique(instance.service_time[1:]).tolist()
    return float(times[0]) if len(times) == 1 and times[0] > 0 else None


def _depot(instance: Instance) -> list[str]:
    return ["DEPOT_SECTION", str(instance.labels[0]), "-1"]
