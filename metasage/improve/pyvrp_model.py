"""Instances and solutions as PyVRP wants them; its lengths are integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyvrp

from metasage.problems.cvrp import CvrpInstance, exact_units
from metasage.problems.metric import Floats

# So many units make up the longest length where lengths are not integral.
# More would outgrow the penalties with which PyVRP drives infeasibility out.
_RESOLUTION = 10_000


def length_unit(lengths: Floats) -> float:
    """Integer units in one unit of length, for the lengths of all edges."""
    whole = bool((lengths == np.rint(lengths)).all())
    return 1.0 if whole else _RESOLUTION / max(float(lengths.max()), 1e-12)


def problem_data(
    lengths: Floats, clients: list[pyvrp.Client], vehicle: pyvrp.VehicleType
) -> pyvrp.ProblemData:
    """Put a model together; the first node is the depot."""
    matrix: Any = lengths.astype(np.int64)
    places = [pyvrp.Location(0, 0) for _ in range(len(matrix))]
    durations = np.zeros_like(matrix)
    return pyvrp.ProblemData(places, clients, [pyvrp.Depot(0)], [vehicle], [matrix], [durations])


def cvrp_data(instance: CvrpInstance) -> pyvrp.ProblemData:
    """Express a CVRP in whole units of length and load."""
    lengths = instance.length_matrix()
    units = np.rint(lengths * length_unit(lengths))
    demand, capacity = exact_units(instance.demand, instance.capacity)
    clients = [
        pyvrp.Client(node, delivery=[int(demand[node])]) for node in range(1, instance.num_nodes)
    ]
    vehicle = pyvrp.VehicleType(num_available=instance.size, capacity=[int(capacity)])
    return problem_data(units, clients, vehicle)


def to_pyvrp(data: pyvrp.ProblemData, routes: Any) -> pyvrp.Solution:
    """Turn routes of node indices into a solution of PyVRP's."""
    # Visits count the clients, which are the nodes after the depot.
    return pyvrp.Solution(data, [[node - 1 for node in route] for route in routes if route])


def routes_of(solution: pyvrp.Solution) -> list[list[int]]:
    """Turn a solution of PyVRP's into routes of node indices."""
    return [[visit.idx + 1 for visit in route if visit.is_client()] for route in solution.routes()]
