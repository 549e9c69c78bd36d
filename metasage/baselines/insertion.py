"""Cheapest insertion into one tour from node 0."""

from __future__ import annotations

import numpy as np

from metasage.problems import Instance
from metasage.problems.base import TOLERANCE
from metasage.problems.metric import Indices
from metasage.problems.op import Op
from metasage.problems.pctsp import Pctsp


def insert_all(instance: Instance, order: Indices | None) -> Indices:
    """Insert nodes one after another, each where it costs least.

    Parameters
    ----------
    instance
        The instance; loads are not looked at.
    order
        The nodes, without node 0; None takes the farthest from the tour next.

    Returns
    -------
    Indices
        The tour from node 0 on.
    """
    tour = _Tour(instance)
    if order is not None:
        for node in order:
            tour.insert(int(node))
        return tour.nodes[: tour.count]
    everything = np.arange(instance.num_nodes)
    distance = instance.lengths(np.zeros_like(everything), everything)
    waiting = np.ones(instance.num_nodes, dtype=bool)
    waiting[0] = False
    for _ in range(instance.size - int(not instance.problem.has_depot)):
        node = int(np.where(waiting, distance, -1.0).argmax())
        waiting[node] = False
        if tour.insert(node):
            distance = np.minimum(distance, instance.lengths(np.array(node), everything))
    return tour.nodes[: tour.count]


class _Tour:
    """A tour as it grows; arrays have room for all nodes, the first `count` are taken."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.nodes = np.zeros(instance.num_nodes, dtype=np.int64)
        self.edges = np.zeros(instance.num_nodes)
        self.count = 1
        self.length = self.collected = 0.0

    def insert(self, node: int) -> bool:
        """Insert a node where it costs least, unless it is better or must be left out."""
        before = self.instance.lengths(np.array(node), self.nodes[: self.count])
        after = np.roll(before, -1)
        costs = before + after - self.edges[: self.count]
        place = int(costs.argmin())
        cost = float(costs[place])
        if not self._is_wanted(node, cost):
            return False
        for array in (self.nodes, self.edges):
            array[place + 2 : self.count + 1] = array[place + 1 : self.count].copy()
        self.nodes[place + 1] = node
        self.edges[place : place + 2] = before[place], after[place]
        self.count += 1
        self.length += cost
        if isinstance(self.instance, Pctsp):
            self.collected += float(self.instance.prize[node])
        return True

    def _is_wanted(self, node: int, cost: float) -> bool:
        instance = self.instance
        if isinstance(instance, Op):
            return self.length + cost <= instance.max_length
        if isinstance(instance, Pctsp):
            enough = self.collected >= instance.min_prize * (1 - TOLERANCE)
            return not enough or cost < float(instance.penalty[node])
        return True
