"""TSP, PCTSP and OP: an iterated local search in C++."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import metasage._native as _native
from metasage.improve.improver import Improver, Listener, native_effort, native_lengths
from metasage.improve.tour.places import Places
from metasage.problems import Instance, Solution
from metasage.problems.op import Op
from metasage.problems.pctsp import Pctsp
from metasage.runtime.interrupts import ENDLESS, Patience

Tour = NDArray[np.int32]
AnyInt = TypeVar("AnyInt", np.int32, np.int64)


class SingleTourImprover(Improver):
    """Chained Lin-Kernighan, with nodes that come and go where the problem lets them.

    Sequential exchanges of up to five edges between near nodes (Lin and Kernighan
    1973) repair a small random change of the tour (Martin, Otto and Felten 1991).
    What becomes worse is taken back, but for small losses, which are accepted less
    and less as the search goes on (Kirkpatrick et al. 1983). For PCTSP and OP,
    nodes are inserted, dropped and replaced at a price for a unit of prize, which
    follows the bound that the problem sets; then the tour is brought back within it.

    Each thread has a tour of its own, and the best one wins.

    Parameters
    ----------
    instance
        An instance of TSP, PCTSP or OP.
    threads
        Number of threads; None for one a core.
    """

    def __init__(self, instance: Instance, threads: int | None = None) -> None:
        super().__init__(instance, threads)
        self._places = Places.of(instance)
        self._native = _native.TourImprover(**_arguments(instance, self._places))
        self._depot = int(instance.problem.has_depot)

    @property
    def best(self) -> Solution | None:  # noqa: D102
        tour = self._native.best
        return None if tour is None else self._to_solution(tour)

    def starts(self, patience: Patience = ENDLESS) -> list[Solution]:  # noqa: D102
        tours = self._native.construct(**native_effort(self.threads, patience, 0))
        return [self._to_solution(tour) for tour in tours]

    def search(  # noqa: D102
        self,
        starts: Sequence[Solution],
        *,
        patience: Patience = ENDLESS,
        kicks: int | None = None,
        seed: int = 0,
        listener: Listener | None = None,
    ) -> None:
        self._native.search(
            tours=[self._to_tour(solution) for solution in starts],
            kicks=kicks,
            listener=listener,
            **native_effort(self.threads, patience, seed),
        )

    def _polish(self, solutions: Sequence[Solution], patience: Patience) -> list[Solution]:
        tours = self._native.polish(
            tours=[self._to_tour(solution) for solution in solutions],
            **native_effort(self.threads, patience, 0),
        )
        return [self._to_solution(tour) for tour in tours]

    def _to_tour(self, solution: Solution) -> Tour:
        nodes = [node for route in solution.routes for node in route]
        tour = np.array([0, *nodes] if self._depot else nodes, dtype=np.int32)
        return tour if self._places is None else self._places.reduced(tour)

    def _to_solution(self, tour: Tour) -> Solution:
        if self._places is not None:
            tour = self._places.expanded(tour)
        return Solution([(after_depot(tour) if self._depot else tour).tolist()])


def after_depot(tour: NDArray[AnyInt]) -> NDArray[AnyInt]:
    """Return a closed tour as it goes on after node 0, without that."""
    return np.roll(tour, -int(np.argmin(tour)))[1:]


def _arguments(instance: Instance, places: Places | None) -> dict[str, Any]:
    """Describe an instance to the native search, place by place if nodes share some."""
    arguments = native_lengths(instance) | {"problem": instance.problem.name}
    if isinstance(instance, Op):
        arguments |= {"prize": instance.prize, "bound": instance.max_length}
    if isinstance(instance, Pctsp):
        arguments |= {"prize": instance.prize, "penalty": instance.penalty}
        arguments["bound"] = instance.min_prize
    if places is not None:
        arguments["data"] = np.ascontiguousarray(arguments["data"][places.first])
        for name in {"prize", "penalty"} & arguments.keys():
            arguments[name] = places.sums(arguments[name])
    return arguments
