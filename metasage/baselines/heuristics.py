"""Simple heuristics for all four problems, without torch.

Nearest neighbour (go to the nearest node that the rules allow) and cheapest
insertion of the nodes in random or farthest-first order (Rosenkrantz, Stearns
and Lewis 1977), with the CVRP's tour then cut into routes. Both take time that
grows with the square of the size and memory that grows with the size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from metasage.baselines.base import DIRECTION, Baseline, Track
from metasage.baselines.insertion import insert_all
from metasage.baselines.split import split
from metasage.improve.nearest import customers, nearest_neighbour
from metasage.problems import Instance, Solution
from metasage.problems.cvrp import Cvrp
from metasage.problems.metric import Indices

EVERY_PROBLEM = ("tsp", "cvrp", "pctsp", "op")


class NearestNeighbour(Baseline):
    """Go to the nearest node that the rules allow, and home when there is none."""

    name = "nearest"
    problems = EVERY_PROBLEM
    keeps = frozenset({DIRECTION})
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
    order = np.random.default_rng(seed).permutation(customers(instance))
    return _solution(instance, insert_all(instance, order))


def farthest_insertion(instance: Instance) -> Solution:
    """Insert the node farthest from the tour next, where it costs least."""
    return _solution(instance, insert_all(instance, None))


def _solution(instance: Instance, tour: Indices) -> Solution:
    """Turn a tour from node 0 on into a solution; the CVRP's is cut into routes."""
    if isinstance(instance, Cvrp):
        return split(instance, tour[1:])
    return Solution([tour[1:] if instance.problem.has_depot else tour])
