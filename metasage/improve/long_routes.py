"""Routes of a CVRP with hundreds of customers, which are tours by themselves."""

from __future__ import annotations

import time

import numpy as np

from metasage.improve.single_tour import SingleTourImprover
from metasage.problems import Solution
from metasage.problems.cvrp import CvrpInstance
from metasage.problems.metric import Indices
from metasage.problems.tsp import TspInstance

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
            tours = SingleTourImprover(_tour_through(instance, nodes), threads)
            tour = tours.improve(
                [Solution([range(len(nodes))])],
                seconds=None if left is None else share * left,
                kicks=None if kicks is None else int(share * kicks),
                seed=seed,
            )
            order = np.array(tour.routes[0])
            route = nodes[np.roll(order, -int(np.argmin(order)))][1:].tolist()
        shortened.append(route)
    return shortened


def _tour_through(instance: CvrpInstance, nodes: Indices) -> TspInstance:
    return TspInstance(
        coords=None if instance.coords is None else instance.coords[nodes],
        metric=instance.metric,
        matrix=None if instance.matrix is None else instance.matrix[np.ix_(nodes, nodes)],
    )
