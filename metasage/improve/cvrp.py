"""CVRP: PyVRP's iterated local search from given routes, on all cores."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from metasage._native import savings
from metasage.improve.improver import Improver, available_cores
from metasage.improve.long_routes import MOST_CUSTOMERS
from metasage.improve.single_tour import SingleTourImprover, after_depot, native_lengths
from metasage.improve.split import split
from metasage.problems import Instance, Solution, check
from metasage.problems.cvrp import CvrpInstance
from metasage.problems.loads import MOST_IN_INTEGERS, exact_units
from metasage.problems.tsp import TspInstance

if TYPE_CHECKING:
    from metasage.improve.pyvrp_search import PyvrpSearch

# Importing PyVRP, and handing over an edge, in seconds on a slow machine.
_IMPORT, _EDGE = 0.6, 3e-7

# PyVRP holds Python's lock, so that a second core needs a second process. It is
# worth its start only if there is time.
_SECONDS_FOR_HELPERS = 4.0


# How much longer than joining routes it may take to cut a tour into some, roughly, and
# the share of the time left that it has.
_CUTTING, _CUTTING_SHARE = 8.0, 0.3


class CvrpImprover(Improver):
    """PyVRP's search, one process a core, each with its own seed.

    At half time all of them go on from the best solution. Beyond 600 customers
    they search different regions. Where there is no time for PyVRP, solutions come
    back as they are.

    Parameters
    ----------
    instance
        An instance of the CVRP.
    threads
        Number of processes; None for one a core.
    """

    def __init__(self, instance: Instance, threads: int | None = None) -> None:
        super().__init__(instance, threads)
        assert isinstance(instance, CvrpInstance)
        self._cvrp = instance
        self._processes = min(self.threads, available_cores())
        self._best: Solution | None = None
        self._search_made: PyvrpSearch | None = None

    @property
    def best(self) -> Solution | None:  # noqa: D102
        return self._best

    @property
    def _search(self) -> PyvrpSearch:
        if self._search_made is None:
            # Importing PyVRP takes a good part of a second.
            from metasage.improve.pyvrp_search import PyvrpSearch

            self._search_made = PyvrpSearch(self._cvrp)
        return self._search_made

    def construct(self, deadline: float | None = None) -> Solution:
        """Return the better of joined routes and of a tour cut into routes."""
        if self._cvrp.size == 0:
            return Solution([])
        began = time.monotonic()
        joined = self._joined_routes()
        now = time.monotonic()
        until = None
        if deadline is not None:
            if deadline - now < _CUTTING * (now - began):
                return joined
            until = now + _CUTTING_SHARE * (deadline - now)
        try:
            return self._better(self._cut_tour(until), joined)
        except TimeoutError:
            return joined

    def _joined_routes(self) -> Solution:
        """Join those routes that save most (Clarke and Wright 1964)."""
        instance = self._cvrp
        units, capacity = exact_units(instance.demand, instance.capacity, MOST_IN_INTEGERS)
        routes = savings(demand=units, capacity=capacity, **native_lengths(instance))
        return Solution([route.tolist() for route in routes])

    def _cut_tour(self, deadline: float | None = None) -> Solution:
        """Cut a tour through all customers where that costs least (Beasley 1983)."""
        instance = self._cvrp
        everyone = TspInstance(
            coords=instance.coords, metric=instance.metric, matrix=instance.matrix
        )
        tours = SingleTourImprover(everyone, self.threads)
        (tour,) = tours.polish([tours.construct(deadline)], deadline=deadline)
        return split(instance, after_depot(np.array(tour.routes[0])), deadline)

    def _polish(self, solutions: Sequence[Solution], deadline: float | None) -> list[Solution]:
        if not self._is_small:
            return list(solutions)
        polished = []
        for solution in solutions:
            on = self._has_time(deadline)
            polished.append(Solution(self._search.polish(solution.routes)) if on else solution)
        return polished

    @property
    def _is_small(self) -> bool:
        return 1 <= self._cvrp.size <= MOST_CUSTOMERS

    def _has_time(self, deadline: float | None) -> bool:
        """Whether a search is set up before the deadline."""
        left = float("inf") if deadline is None else deadline - time.monotonic()
        is_made = self._search_made is not None
        nodes = min(self._cvrp.num_nodes, MOST_CUSTOMERS)
        return left > (0.0 if is_made else _IMPORT + _EDGE * nodes**2)

    def _improve(
        self,
        starts: Sequence[Solution],
        deadline: float | None,
        kicks: int | None,
        seed: int,
        tell: Callable[[float], None],
    ) -> Solution:
        best = starts[0]
        for start in starts[1:]:
            best = self._better(best, start)
        self._best = best
        if self._cvrp.size == 0 or not self._has_time(deadline):
            return best

        least = check(self._cvrp, best).objective

        def offer(routes: list[list[int]]) -> None:
            nonlocal least
            found = Solution(routes)
            verdict = check(self._cvrp, found)
            assert verdict.objective is not None
            assert least is not None
            if verdict.feasible and verdict.objective < least:
                self._best, least = found, verdict.objective
                tell(least)

        if not self._is_small:
            from metasage.improve.regions import search_regions

            search_regions(
                self._cvrp,
                [list(route) for route in best.routes],
                deadline=deadline,
                kicks=kicks,
                seed=seed,
                threads=self._processes,
                offer=offer,
            )
        elif deadline is None or kicks is not None:
            self._search.run(best.routes, deadline, kicks, seed, offer)
        else:
            self._run_together(deadline, seed, offer)
        return self._best

    def _run_together(self, deadline: float, seed: int, offer: Callable[..., None]) -> None:
        """Search in several processes, which go on from the best one at half time."""
        from metasage.improve.team import Job, Team

        left = deadline - time.monotonic()
        count = self._processes if left >= _SECONDS_FOR_HELPERS else 1
        phases = [deadline - left / 2, deadline] if count > 1 else [deadline]
        with Team(lambda _: self._search) as team:
            for end in phases:
                assert self._best is not None
                routes = [list(route) for route in self._best.routes]
                jobs = [Job(self._cvrp, routes, seed + number) for number in range(count)]
                team.search(jobs, end, lambda _, routes: offer(routes))
                seed += count
