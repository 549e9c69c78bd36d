"""Routes of a CVRP with hundreds of customers, which are tours by themselves."""

from __future__ import annotations

import time

import numpy as np

from metasage.improve.single_tour import SingleTourImprover, after_depot
from metasage.problems import Solution
from metasage.problems.cvrp import CvrpInstance
from metasage.problems.tsp import TspInstance

MOST_CUSTOMERS = 600
"""Customers that PyVRP searches at once; larger instances are cut into regions of them."""

Routes = list[list[int]]


def shorten_long_routes(
    instance: CvrpInstance,
    routes: Routes,
    most: int,
    *,
    deadline: float | None,
    kicks: int | None,
    seed: int,
    threads: int,
) -> Routes:
    """Search the order of customers in each long route.

    Parameters
    ----------
    instance
        The instance.
    routes
        Feasible routes.
    most
        Customers of a route that is not long.
    deadline, kicks
        Time of `time.monotonic`, or number of kicks; a route has the share of its customers.
    seed, threads
        As for `Improver.improve`.
    """
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    shortened = []
    for route in routes:
        if len(route) > most:
            share = len(route) / instance.size
            nodes = np.array([0, *route])
            tours = SingleTourImprover(TspInstance(**instance.geometry(nodes)), threads)
            tour = tours.improve(
                [Solution([range(len(nodes))])],
                seconds=None if left is None else share * left,
                kicks=None if kicks is None else int(share * kicks),
                seed=seed,
            )
            route = nodes[after_depot(np.array(tour.routes[0]))].tolist()
        shortened.append(route)
    return shortened
