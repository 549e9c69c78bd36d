"""CVRP, and tours whose lengths differ by direction: ruin, recreate and descend, in C++."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import metasage._native as _native
from metasage.improve.improver import (
    Improver,
    Listener,
    measured_by_places,
    native_effort,
    native_lengths,
)
from metasage.improve.routes.long_routes import long_routes_share, shorten_long_routes
from metasage.improve.routes.numbering import along_curve
from metasage.problems import Instance, Solution, check
from metasage.problems.cvrp import Cvrp
from metasage.problems.limits import MOST_IN_INTEGERS, exact_units
from metasage.problems.metric import Indices
from metasage.runtime.interrupts import ENDLESS, Patience


class RoutesImprover(Improver):
    """Strings of customers are taken out and put back, and moves repair the rest.

    Strings of routes beside each other are removed and their customers inserted where
    they cost least (Christiaens and Vanden Berghe 2020). Where that changed something,
    a local search over near nodes follows: up to three customers go elsewhere, two
    change places, parts are turned or go on in another route. What becomes worse is
    taken back, but for small losses, which are accepted less and less as the search
    goes on (Kirkpatrick et al. 1983).

    With several threads, small instances are searched as often, and the best one
    wins; of large ones each thread has a part of the plane, which changes from round
    to round. Where vehicles are limited, customers without one weigh more and more.

    Parameters
    ----------
    instance
        An instance of the CVRP, or of the TSP, which is one route then.
    threads
        Number of threads; None for one a core.
    """

    def __init__(self, instance: Instance, threads: int | None = None) -> None:
        super().__init__(instance, threads)
        self._nodes = along_curve(instance)
        self._numbers = np.argsort(self._nodes).astype(np.int32)
        self._native = _native.RoutesImprover(**_arguments(instance, self._nodes))
        self._shortened: Solution | None = None
        # A tour is the route of its first node.
        self._has_depot = instance.problem.has_depot

    @property
    def best(self) -> Solution | None:  # noqa: D102
        if self._shortened is not None:
            return self._shortened
        routes = self._native.best
        return None if routes is None else self._to_solution(routes)

    def starts(self, patience: Patience = ENDLESS) -> list[Solution]:
        """Return routes joined by what that saves (Clarke and Wright 1964)."""
        joined = self._native.construct(**native_effort(self.threads, patience, 0))
        return [self._to_solution(joined)]

    def search(  # noqa: D102
        self,
        starts: Sequence[Solution],
        *,
        patience: Patience = ENDLESS,
        kicks: int | None = None,
        seed: int = 0,
        listener: Listener | None = None,
    ) -> None:
        instance, start = self.instance, starts[0]
        self._shortened = None
        share = long_routes_share(instance, start)
        left = patience.seconds_left
        until = None if left is None else time.monotonic() + (1.0 - share) * left
        self._native.search(
            routes=self._to_routes(start),
            kicks=kicks,
            listener=listener,
            **native_effort(self.threads, patience.until(until), seed),
        )
        found = self._native.best
        if share == 0.0 or found is None:
            return
        self._shortened = shorten_long_routes(
            instance,
            self._to_solution(found),
            patience=patience,
            kicks=kicks,
            seed=seed,
            threads=self.threads,
        )
        objective = check(instance, self._shortened).objective
        if listener is not None and objective is not None:
            listener(objective)

    def _polish(self, solutions: Sequence[Solution], patience: Patience) -> list[Solution]:
        effort = native_effort(self.threads, patience, 0)
        return [
            self._to_solution(self._native.polish(routes=self._to_routes(solution), **effort))
            for solution in solutions
        ]

    def _to_routes(self, solution: Solution) -> list[NDArray[np.int32]]:
        routes = solution.routes
        if not self._has_depot:
            (tour,) = routes
            first = tour.index(0)
            routes = (tour[first + 1 :] + tour[:first],)
        return [self._numbers[list(route)] for route in routes]

    def _to_solution(self, routes: Sequence[NDArray[np.int32]]) -> Solution:
        found = [self._nodes[route].tolist() for route in routes]
        return Solution(
            found if self._has_depot else [[0, *(node for one in found for node in one)]]
        )


def _arguments(instance: Instance, nodes: Indices) -> dict[str, Any]:
    """Describe to the native search nodes in some order, and what routes have to keep to."""
    arguments = native_lengths(instance)
    if measured_by_places(instance):
        arguments["data"] = np.ascontiguousarray(arguments["data"][nodes])
    if not isinstance(instance, Cvrp):
        zero = np.zeros(instance.num_nodes, dtype=np.int64)
        return arguments | {"demand": zero, "capacity": 0, "vehicles": 1}
    units, capacity = exact_units(instance.demand, instance.capacity, MOST_IN_INTEGERS)
    service = instance.service_time
    return arguments | {
        "demand": units[nodes],
        "capacity": capacity,
        "vehicles": instance.vehicles,
        "longest": instance.max_route_length,
        "service": None if service is None else service[nodes],
    }
