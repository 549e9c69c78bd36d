"""Cut a tour into routes (Beasley 1983): the best way that keeps its order."""

from __future__ import annotations

import time

import numpy as np

from metasage.problems import Solution
from metasage.problems.cvrp import Cvrp
from metasage.problems.limits import MOST_IN_INTEGERS, exact_units
from metasage.problems.metric import Indices

# Starts of routes between looks at the clock.
_BETWEEN_LOOKS = 64


def split(instance: Cvrp, tour: Indices, deadline: float | None = None) -> Solution:
    """Cut a tour of customers into routes, each within capacity, of least total length.

    Parameters
    ----------
    instance
        The instance.
    tour
        All customers in the order of the tour.
    deadline
        Time of `time.monotonic` at which to give up.

    Raises
    ------
    TimeoutError
        If it gave up.
    """
    units, capacity = exact_units(instance.demand, instance.capacity, MOST_IN_INTEGERS)
    loads = np.concatenate([[0.0], np.cumsum(units[tour], dtype=np.float64)])
    home = instance.lengths(np.zeros_like(tour), tour)
    # Way along the tour from its first customer to each.
    along = np.concatenate([[0.0], np.cumsum(instance.lengths(tour[:-1], tour[1:]))])
    best = np.full(len(tour) + 1, np.inf)
    best[0] = 0.0
    start_of = np.zeros(len(tour) + 1, dtype=np.int64)
    for start in range(len(tour)):
        if deadline is not None and start % _BETWEEN_LOOKS == 0 and time.monotonic() > deadline:
            raise TimeoutError
        # A route from `start` may end anywhere up to the last that it can carry.
        end = int(np.searchsorted(loads, loads[start] + float(capacity), side="right")) - 1
        end = max(end, start + 1)  # a customer that fits no vehicle: the checker will say so
        lengths = home[start] + along[start:end] - along[start] + home[start:end]
        costs = best[start] + lengths
        better = costs < best[start + 1 : end + 1]
        best[start + 1 : end + 1] = np.where(better, costs, best[start + 1 : end + 1])
        start_of[start + 1 : end + 1] = np.where(better, start, start_of[start + 1 : end + 1])
    routes, end = [], len(tour)
    while end > 0:
        routes.append(tour[start_of[end] : end])
        end = int(start_of[end])
    return Solution(routes[::-1])
