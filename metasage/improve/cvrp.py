"""CVRP: PyVRP's iterated local search from given routes, on all cores."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from metasage.improve.helper import Helper
from metasage.improve.improver import Improver
from metasage.improve.single_tour import SingleTourImprover
from metasage.improve.split import split
from metasage.problems import Instance, Solution, check
from metasage.problems.cvrp import CvrpInstance
from metasage.problems.tsp import TspInstance

if TYPE_CHECKING:
    from metasage.improve.pyvrp_search import PyvrpSearch

# PyVRP keeps the lengths of all edges twice, as 64-bit integers.
_MOST_NODES = 7_001

# Importing PyVRP, and handing over an edge, in seconds on a slow machine.
_IMPORT, _EDGE = 0.6, 3e-7

# PyVRP holds Python's lock, so that a second core needs a second process. It is
# worth its start only if there is time.
_SECONDS_FOR_HELPERS = 4.0


class CvrpImprover(Improver):
    """PyVRP's search, one process a core, each with its own seed.

    At half time all of them go on from the best solution.

    Where there is no time for PyVRP, and beyond 7,000 customers, for which it
    needs too much memory, solutions come back as they are.

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

    def construct(self) -> Solution:
        """Cut a tour through all customers where that costs least (Beasley 1983)."""
        instance = self._cvrp
        if instance.size == 0:
            return Solution([])
        everyone = TspInstance(
            coords=instance.coords, metric=instance.metric, matrix=instance.matrix
        )
        tours = SingleTourImprover(everyone, self.threads)
        (tour,) = tours.polish([tours.construct()])
        nodes = np.array(tour.routes[0])
        return split(instance, np.roll(nodes, -int(np.argmin(nodes)))[1:])

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
        return 2 <= self._cvrp.num_nodes <= _MOST_NODES

    def _has_time(self, deadline: float | None) -> bool:
        """Whether the search is set up before the deadline."""
        left = float("inf") if deadline is None else deadline - time.monotonic()
        is_made = self._search_made is not None
        return left > (0.0 if is_made else _IMPORT + _EDGE * self._cvrp.num_nodes**2)

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
        if not self._is_small or not self._has_time(deadline):
            return best

        def offer(routes: list[list[int]]) -> None:
            assert self._best is not None
            found = Solution(routes)
            chosen = self._better(self._best, found)
            if chosen is found:
                self._best = found
                tell(check(self._cvrp, found).objective or 0.0)

        if deadline is None or kicks is not None:
            self._search.run(best.routes, deadline, kicks, seed, offer)
        else:
            self._run_together(deadline, seed, offer)
        return self._best

    def _run_together(self, deadline: float, seed: int, offer: Callable[..., None]) -> None:
        """Search in several processes, which go on from the best one at half time."""
        left = deadline - time.monotonic()
        count = self.threads if left >= _SECONDS_FOR_HELPERS else 1
        phases = [deadline - left / 2, deadline] if count > 1 else [deadline]
        helpers = [Helper(self._cvrp) for _ in range(count - 1)]
        try:
            for end in phases:
                assert self._best is not None
                for number, helper in enumerate(helpers, start=1):
                    helper.start(self._best.routes, end, seed + number)
                self._search.run(self._best.routes, end, None, seed, offer)
                for helper in helpers:
                    if (routes := helper.result()) is not None:
                        offer(routes)
                seed += count
        finally:
            for helper in helpers:
                helper.close()
