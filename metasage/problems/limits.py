"""Limits of a CVRP beyond the capacity: how many routes, and how long each may be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from metasage.problems.base import TOLERANCE
from metasage.problems.loads import load_limit
from metasage.problems.metric import Floats, Indices

if TYPE_CHECKING:
    from metasage.problems.cvrp import Cvrp


def find_excess(instance: Cvrp, walk: Indices, steps: Floats) -> str | None:
    """Name a limit that routes exceed.

    Parameters
    ----------
    instance
        The instance.
    walk
        All routes one after another, with the depot before, between and behind them.
    steps
        Length of each step of the walk.
    """
    starts = np.flatnonzero(walk[:-1] == 0)
    longest = instance.max_route_length
    if longest is not None:
        takes = np.add.reduceat(steps + _service(instance)[walk[1:]], starts)
        too_long = takes > longest * (1 + TOLERANCE)
        if too_long.any():
            number = int(np.argmax(too_long))
            return f"route {number + 1} takes {takes[number]:.10g} of {longest:.10g}."
    used = int((walk[starts + 1] != 0).sum())
    if instance.vehicles is not None and used > instance.vehicles:
        noun = "vehicle" if instance.vehicles == 1 else "vehicles"
        return f"there are {used} routes with customers and {instance.vehicles} {noun}."
    return None


def least_vehicles(instance: Cvrp) -> int:
    """Return how many vehicles the demands fill, of which no solution has fewer."""
    # As much slack again as the checker has, since sums are not exact either.
    room = load_limit(instance.demand, instance.capacity) * (1 + TOLERANCE)
    return math.ceil(float(instance.demand[1:].sum()) / room)


def find_out_of_reach(instance: Cvrp) -> str | None:
    """Name a customer that no route has the length for, where that is certain."""
    longest = instance.max_route_length
    if longest is None:
        return None
    nodes, depot = np.arange(instance.num_nodes), np.zeros(instance.num_nodes, dtype=np.int64)
    visits = instance.lengths(depot, nodes) + instance.lengths(nodes, depot) + _service(instance)
    most = longest * (1 + 2 * TOLERANCE)
    if (visits > most).any() and not instance.metric.has_no_shortcuts:
        visits = _least_ways(instance, home=False) + _least_ways(instance, home=True)
    worst = int(np.argmax(visits))
    if visits[worst] <= most:
        return None
    return (
        f"customer {instance.labels[worst]} takes a route of at least {visits[worst]:.10g}, "
        f"and {longest:.10g} is the most."
    )


def _service(instance: Cvrp) -> Floats:
    if instance.service_time is None:
        return np.zeros(instance.num_nodes)
    return instance.service_time


def _least_ways(instance: Cvrp, home: bool) -> Floats:
    """Return the least that the way from the depot to each node takes, or that home.

    This is Dijkstra's algorithm. Service counts at the end of each step, so that both
    ways together count a node's own service once.
    """
    nodes, service = np.arange(instance.num_nodes), _service(instance)
    ways = np.full(instance.num_nodes, np.inf)
    ways[0] = 0.0
    is_open = np.ones(instance.num_nodes, dtype=bool)
    for _ in nodes:
        nearest = int(np.argmin(np.where(is_open, ways, np.inf)))
        is_open[nearest] = False
        here = np.full_like(nodes, nearest)
        if home:
            steps = instance.lengths(nodes, here) + service[nearest]
        else:
            steps = instance.lengths(here, nodes) + service
        ways = np.minimum(ways, ways[nearest] + steps)
    return ways
