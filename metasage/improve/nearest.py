"""Nearest neighbour, for all four problems; in Python alone, since it is the last resort."""

from __future__ import annotations

from typing import Any

import numpy as np

from metasage.problems import Instance, Solution
from metasage.problems.base import TOLERANCE
from metasage.problems.cvrp import Cvrp
from metasage.problems.limits import MOST_IN_INTEGERS, exact_units
from metasage.problems.metric import Indices
from metasage.problems.op import Op
from metasage.problems.pctsp import Pctsp


def nearest_neighbour(instance: Instance) -> Solution:
    """Go to the nearest node that the rules allow, and home when there is none."""
    walk = _Walk(instance)
    here, routes = 0, [[]] if instance.problem.has_depot else [[0]]
    open_nodes = customers(instance)
    while len(open_nodes):
        steps = instance.lengths(np.full(len(open_nodes), here), open_nodes)
        steps = np.where(walk.allowed(open_nodes, steps), steps, np.inf)
        chosen = int(steps.argmin())
        if walk.may_end() or not np.isfinite(steps[chosen]):
            if instance.problem.single_tour:
                break
            walk, here = _Walk(instance), 0
            routes.append([])
            continue
        here = int(open_nodes[chosen])
        walk.go(here, float(steps[chosen]))
        routes[-1].append(here)
        open_nodes = np.delete(open_nodes, chosen)
    return Solution(routes)


class _Walk:
    """A route as it is built: what it has carried, collected or covered so far."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.length = self.used = 0.0
        if isinstance(instance, Cvrp):
            self.demand, self.capacity = exact_units(
                instance.demand, instance.capacity, MOST_IN_INTEGERS
            )

    def allowed(self, nodes: Indices, steps: Any) -> Any:
        """Which of the nodes may come next."""
        if isinstance(self.instance, Cvrp):
            # Demands rounded up may be too large for any vehicle by a unit.
            return (self.used + self.demand[nodes] <= self.capacity) | (self.used == 0)
        if isinstance(self.instance, Op):
            home = self.instance.lengths(nodes, np.zeros_like(nodes))
            return self.length + steps + home <= self.instance.max_length
        return np.ones(len(nodes), dtype=bool)

    def may_end(self) -> bool:
        """Whether the route ends although there are nodes to visit."""
        if isinstance(self.instance, Pctsp):
            return self.used >= self.instance.min_prize * (1 - TOLERANCE)
        return False

    def go(self, node: int, step: float) -> None:
        """Walk to a node."""
        self.length += step
        if isinstance(self.instance, Cvrp):
            self.used += float(self.demand[node])
        elif isinstance(self.instance, Pctsp):
            self.used += float(self.instance.prize[node])


def customers(instance: Instance) -> Indices:
    """Return the nodes that remain when the first is taken, which is the depot if there is one."""
    return np.arange(1, instance.num_nodes)
