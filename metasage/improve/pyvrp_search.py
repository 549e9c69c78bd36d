"""PyVRP's components, set up once for an instance."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from pyvrp import (
    IteratedLocalSearch,
    IteratedLocalSearchParams,
    PenaltyManager,
    PenaltyParams,
    RandomNumberGenerator,
    Solution,
)
from pyvrp.IteratedLocalSearch import IteratedLocalSearchCallbacks
from pyvrp.search import (
    OPERATORS,
    LocalSearch,
    PerturbationManager,
    PerturbationParams,
    compute_neighbours,
)

from metasage.improve.pyvrp_model import PyvrpModel
from metasage.problems import Solution as Routing
from metasage.problems.cvrp import CvrpInstance

Routes = Sequence[Sequence[int]]
Offer = Callable[[list[list[int]]], None]


class PyvrpSearch:
    """PyVRP's local search and its iterated form, started from given routes.

    Parameters
    ----------
    instance
        An instance of the CVRP.
    """

    def __init__(self, instance: CvrpInstance) -> None:
        self._model = PyvrpModel(instance)
        self._data = self._model.data()
        self._neighbours = compute_neighbours(self._data)
        self._descent = self._local_search(0, PerturbationParams(0, 0))

    def _local_search(self, seed: int, perturbation: PerturbationParams) -> LocalSearch:
        search = LocalSearch(
            self._data,
            RandomNumberGenerator(seed=seed),
            self._neighbours,
            PerturbationManager(perturbation),
        )
        for operator in OPERATORS:
            if operator.supports(self._data):
                search.add_operator(operator(self._data))
        return search

    def _penalties(self) -> PenaltyManager:
        params = PenaltyParams()
        return PenaltyManager(params.midpoint_penalties(self._data), params)

    def polish(self, routes: Routes) -> list[list[int]]:
        """Descend to a local optimum; overloads cost so much that none remain."""
        start = self._model.to_pyvrp(Routing(routes), self._data)
        evaluator = self._penalties().max_cost_evaluator()
        return self._routes(self._descent(start, evaluator, exhaustive=True))

    def run(
        self, routes: Routes, deadline: float | None, kicks: int | None, seed: int, offer: Offer
    ) -> None:
        """Search from feasible routes until the time or the iterations are over."""
        algorithm = IteratedLocalSearch(
            self._data,
            self._penalties(),
            self._local_search(seed, PerturbationParams()),
            self._model.to_pyvrp(Routing(routes), self._data),
            IteratedLocalSearchParams(callbacks=_Offers(lambda found: offer(self._routes(found)))),
        )
        algorithm.run(_Stop(deadline, kicks), collect_stats=False)

    def _routes(self, found: Solution) -> list[list[int]]:
        return [list(route) for route in self._model.from_pyvrp(found).routes]


class _Offers(IteratedLocalSearchCallbacks):
    def __init__(self, offer: Callable[[Solution], None]) -> None:
        self._offer = offer

    def on_best(self, best: Solution) -> None:
        self._offer(best)


class _Stop:
    def __init__(self, deadline: float | None, kicks: int | None) -> None:
        self._deadline, self._left = deadline, kicks

    def __call__(self, best_cost: int) -> bool:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return True
        if self._left is not None:
            self._left -= 1
        return self._left is not None and self._left < 0
