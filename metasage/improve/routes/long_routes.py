"""Routes of a CVRP with many customers, which are tours by themselves."""

from __future__ import annotations

import numpy as np

from metasage.improve.tour.improver import SingleTourImprover, after_depot
from metasage.problems import Instance, Solution
from metasage.problems.tsp import Tsp
from metasage.runtime.interrupts import Patience

LONG = 200
"""Customers from which on a route is worth a search of its own."""


def long_routes_share(instance: Instance, start: Solution) -> float:
    """Return the part of the time that is kept for searches of single routes.

    Lin-Kernighan steps order hundreds of customers better than insertions do, but only
    within a route.
    """
    if instance.is_directed or max(map(len, start.routes), default=0) < LONG:
        return 0.0
    return 0.9 if len(start.routes) == 1 else 0.1


def shorten_long_routes(
    instance: Instance,
    solution: Solution,
    *,
    patience: Patience,
    kicks: int | None,
    seed: int,
    threads: int,
) -> Solution:
    """Search the order of customers in each long route.

    Parameters
    ----------
    instance
        The instance; lengths are the same in both directions.
    solution
        Feasible routes.
    patience, kicks
        Time, or number of kicks; a route has the share of its customers.
    seed, threads
        As for `Improver.improve`.
    """
    left = patience.seconds_left
    routes = []
    for route in solution.routes:
        if len(route) >= LONG:
            share = len(route) / instance.size
            nodes = np.array([0, *route])
            tours = SingleTourImprover(Tsp(**instance.geometry(nodes)), threads)
            tour = tours.improve(
                [Solution([range(len(nodes))])],
                seconds=None if left is None else max(0.0, share * left),
                kicks=None if kicks is None else int(share * kicks),
                seed=seed,
                patience=patience,
            )
            route = tuple(nodes[after_depot(np.array(tour.routes[0]))].tolist())
        routes.append(route)
    return Solution(routes)
