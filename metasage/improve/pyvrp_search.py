"""PyVRP's components, set up once for an instance."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from pyvrp import (
    IteratedLocalSearch,
    IteratedLocalSearchParams,
    PenaltyManager,
    PenaltyParams,
    RandomNumberGenerator,
    Solution,
)
from pyvrp.exceptions import PenaltyBoundWarning
from pyvrp.IteratedLocalSearch import IteratedLocalSearchCallbacks
from pyvrp.search import (
    OPERATORS,
    LocalSearch,
    NeighbourhoodParams,
    PerturbationManager,
    PerturbationParams,
    compute_neighbours,
)

from metasage.improve.pyvrp_model import PyvrpModel
from metasage.problems import Solution as Routing
from metasage.problems.cvrp import CvrpInstance

# Late acceptance: PyVRP's own 300 solutions to compare with suit some ten thousand
# iterations, which is a minute; with less time fewer of them are better.
_HISTORY, _HISTORY_A_SECOND, _LEAST_HISTORY = 300, 4.0, 10

# Customers that moves look at; on large instances more iterations are worth more.
_MANY_NEIGHBOURS, _FEW_NEIGHBOURS, _LARGE = 50, 20, 350

# Seconds for each customer of a descent from a bad start, on a slow machine.
_DESCENT = 5e-4

# What the largest demand beyond the capacity costs at first, in longest edges.
_PRICE_OF_OVERLOAD = 4.0

# Solutions between changes of the penalty of overload.
_BETWEEN_PENALTIES = 100

# Seconds; the checker measures every offer.
_BETWEEN_OFFERS = 0.2

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
        near = _FEW_NEIGHBOURS if instance.size > _LARGE else _MANY_NEIGHBOURS
        self._neighbours = compute_neighbours(self._data, NeighbourhoodParams(num_neighbours=near))
        largest = max((client.delivery[0] for client in self._data.clients()), default=1)
        longest = float(self._data.distance_matrix(0).max())
        self._overload = _PRICE_OF_OVERLOAD * longest / max(1, largest)
        self._descent = self._local_search(0, PerturbationParams(0, 0))

    def _local_search(self, seed: int, perturbation: PerturbationParams) -> LocalSearch:
        search = LocalSearch(
            self._data,
            RandomNumberGenerator(seed=seed % 2**32),
            self._neighbours,
            PerturbationManager(perturbation),
        )
        for operator in OPERATORS:
            if operator.supports(self._data):
                search.add_operator(operator(self._data))
        return search

    def _penalties(self) -> PenaltyManager:
        """Let overload cost a bit more than it may save, and adapt that quickly.

        PyVRP's own start, 50,000 a unit, takes it half a minute to come down to
        where overloaded solutions are of use; at what Vidal (2022) begins with,
        instances with few customers in a route stay overloaded for too long.
        """
        params = PenaltyParams(solutions_between_updates=_BETWEEN_PENALTIES)
        load = float(np.clip(self._overload, params.min_penalty, params.max_penalty))
        _, duration, distance = params.midpoint_penalties(self._data)
        return PenaltyManager(([load], duration, distance), params)

    def polish(self, routes: Routes) -> list[list[int]]:
        """Descend from feasible routes to a local optimum, where overload costs the most."""
        start = self._model.to_pyvrp(Routing(routes), self._data)
        evaluator = self._penalties().max_cost_evaluator()
        found = self._descent(start, evaluator, exhaustive=True)
        return self._routes(found if found.is_feasible() else start)

    def run(
        self, routes: Routes, deadline: float | None, kicks: int | None, seed: int, offer: Offer
    ) -> None:
        """Search from feasible routes until the time or the iterations are over."""
        left = float("inf") if deadline is None else deadline - time.monotonic()
        history = int(np.clip(_HISTORY_A_SECOND * left, _LEAST_HISTORY, _HISTORY))
        if left > _DESCENT * self._data.num_clients:
            # A good solution at once; the search may pass through overloaded ones first.
            routes = self.polish(routes)
            offer(routes)
        # The clock must not decide which solutions count where iterations do.
        pause = _BETWEEN_OFFERS if kicks is None else 0.0
        offers = _Offers(lambda found: offer(self._routes(found)), pause)
        params = IteratedLocalSearchParams(
            history_length=history,
            # Each of the many first improvements would cost a search of all routes.
            exhaustive_on_best=False,
            callbacks=offers,
        )
        algorithm = IteratedLocalSearch(
            self._data,
            self._penalties(),
            self._local_search(seed, PerturbationParams()),
            self._model.to_pyvrp(Routing(routes), self._data),
            params,
        )
        try:
            with warnings.catch_warnings():
                # A penalty at its bound is none of the user's business.
                warnings.simplefilter("ignore", PenaltyBoundWarning)
                algorithm.run(_Stop(deadline, kicks), collect_stats=False)
        finally:  # also if the user has had enough
            offers.flush()

    def _routes(self, found: Solution) -> list[list[int]]:
        return [list(route) for route in self._model.from_pyvrp(found).routes]


class _Offers(IteratedLocalSearchCallbacks):
    """Passes better solutions on, but not each of the many that come in the beginning."""

    def __init__(self, offer: Callable[[Solution], None], pause: float) -> None:
        self._offer, self._pause = offer, pause
        self._last = 0.0
        self._pending: Solution | None = None

    def on_best(self, best: Solution) -> None:
        self._pending = best
        if time.monotonic() >= self._last + self._pause:
            self.flush()

    def flush(self) -> None:
        """Pass on what was held back."""
        if self._pending is not None:
            self._offer(self._pending)
            self._pending, self._last = None, time.monotonic()


class _Stop:
    def __init__(self, deadline: float | None, kicks: int | None) -> None:
        self._deadline, self._left = deadline, kicks

    def __call__(self, best_cost: int) -> bool:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return True
        if self._left is not None:
            self._left -= 1
        return self._left is not None and self._left < 0
