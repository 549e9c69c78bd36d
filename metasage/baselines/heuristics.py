"""Simple heuristics for all four problems, without torch.

Nearest neighbour (go to the nearest node that the rules allow) and cheapest
insertion of the nodes in random or farthest-first order (Rosenkrantz, Stearns
and Lewis 1977), with the CVRP's tour then cut into routes. Both take time that
grows with the square of the size and memory that grows with the size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from metasage.baselines.base import Baseline, Track
from metasage.baselines.insertion import insert_all
from metasage.improve.split import split
from metasage.problems import Instance, Solution
from metasage.problems.base import TOLERANCE
from metasage.problems.cvrp import CvrpInstance
from metasage.problems.loads import MOST_IN_INTEGERS, exact_units
from metasage.problems.metric import Indices
from metasage.problems.op import OpInstance
from metasage.problems.pctsp import PctspInstance

EVERY_PROBLEM = ("tsp", "cvrp", "pctsp", "op")


class NearestNeighbour(Baseline):
    """Go to the nearest node that the rules allow, and home when there is none."""

    name = "nearest"
    problems = EVERY_PROBLEM
    hint = "it comes with metasage"

    def search(self, instance: Any, track: Track, seed: int) -> None:  # noqa: D102
        track.offer(nearest_neighbour(instance))


class RandomInsertion(Baseline):
    """Insert the nodes in random order, each where it costs least."""

    name = "random-insertion"
    problems = EVERY_PROBLEM
    hint = "it comes with metasage"

    def search(self, instance: Any, track: Track, seed: int) -> None:  # noqa: D102
        track.offer(random_insertion(instance, seed))


class FarthestInsertion(Baseline):
    """Insert the node farthest from the tour next, where it costs least."""

    name = "farthest-insertion"
    problems = ("tsp", "cvrp")  # who may leave nodes out does not start with the farthest
    hint = "it comes with metasage"

    def search(self, instance: Any, track: Track, seed: int) -> None:  # noqa: D102
        track.offer(farthest_insertion(instance))


def random_insertion(instance: Instance, seed: int) -> Solution:
    """Insert the nodes in random order, each where it costs least."""
    order = np.random.default_rng(seed).permutation(_customers(instance))
    return _solution(instance, insert_all(instance, order))


def farthest_insertion(instance: Instance) -> Solution:
    """Insert the node farthest from the tour next, where it costs least."""
    return _solution(instance, insert_all(instance, None))


def _solution(instance: Instance, tour: Indices) -> Solution:
    """Turn a tour from node 0 on into a solution; the CVRP's is cut into routes."""
    if isinstance(instance, CvrpInstance):
        return split(instance, tour[1:])
    return Solution([tour[1:] if instance.problem.has_depot else tour])


def nearest_neighbour(instance: Instance) -> Solution:
    """Go to the nearest node that the rules allow, and home when there is none."""
    walk = _Walk(instance)
    here, routes = 0, [[]] if instance.problem.has_depot else [[0]]
    open_nodes = _customers(instance)
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
        if isinstance(instance, CvrpInstance):
            self.demand, self.capacity = exact_units(
                instance.demand, instance.capacity, MOST_IN_INTEGERS
            )

    def allowed(self, nodes: Indices, steps: Any) -> Any:
        """Which of the nodes may come next."""
        if isinstance(self.instance, CvrpInstance):
            return self.used + self.demand[nodes] <= self.capacity
        if isinstance(self.instance, OpInstance):
            home = self.instance.lengths(nodes, np.zeros_like(nodes))
            return self.length + steps + home <= self.instance.max_length
        return np.ones(len(nodes), dtype=bool)

    def may_end(self) -> bool:
        """Whether the route ends although there are nodes to visit."""
        if isinstance(self.instance, PctspInstance):
            return self.used >= self.instance.min_prize * (1 - TOLERANCE)
        return False

    def go(self, node: int, step: float) -> None:
        """Walk to a node."""
        self.length += step
        if isinstance(self.instance, CvrpInstance):
            self.used += float(self.demand[node])
        elif isinstance(self.instance, PctspInstance):
            self.used += float(self.instance.prize[node])


def _customers(instance: Instance) -> Indices:
    """Return the nodes that remain when the first is taken, which is the depot if there is one."""
    return np.arange(1, instance.num_nodes)
