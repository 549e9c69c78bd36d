"""How many vehicles solvers of the CVRP are given that want to know."""

from __future__ import annotations

import numpy as np

from metasage.improve.nearest import nearest_neighbour
from metasage.problems.cvrp import Cvrp
from metasage.problems.metric import Floats


def enough_vehicles(instance: Cvrp) -> int:
    """Return the number of vehicles; where it is not limited, one that allows a solution."""
    if instance.vehicles is not None:
        return instance.vehicles
    routes = nearest_neighbour(instance).routes
    return sum(_pieces(instance, route) for route in routes)


def service_times(instance: Cvrp) -> Floats:
    """Return the time that each node takes, 0 where nothing is said of it."""
    if instance.service_time is None:
        return np.zeros(instance.num_nodes)
    return instance.service_time


def _pieces(instance: Cvrp, route: tuple[int, ...]) -> int:
    """Return into how many routes one has to be cut so that none is too long."""
    longest = instance.max_route_length
    if longest is None or not route:
        return 1
    nodes = np.array(route)
    depot = np.zeros_like(nodes)
    service = service_times(instance)[nodes]
    there, home = instance.lengths(depot, nodes), instance.lengths(nodes, depot)
    steps = instance.lengths(nodes[:-1], nodes[1:])
    count, taken = 1, float(there[0] + service[0])
    for place in range(1, len(nodes)):
        taken += float(steps[place - 1] + service[place])
        if taken + float(home[place]) > longest:
            count, taken = count + 1, float(there[place] + service[place])
    return count
