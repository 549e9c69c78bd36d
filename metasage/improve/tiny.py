"""Instances of a handful of nodes: every solution is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, permutations, product

from metasage.improve.improver import Improver, Listener
from metasage.problems import Instance, Solution, check
from metasage.runtime.interrupts import ENDLESS, Patience

MOST_NODES = 5
"""Customers, or nodes without a depot, up to which all solutions are tried."""


class TinyImprover(Improver):
    """Finds an optimum, in less than a second, whatever time there is."""

    @property
    def best(self) -> Solution | None:  # noqa: D102
        return self._optimum

    def starts(self, patience: Patience = ENDLESS) -> list[Solution]:  # noqa: D102
        return [self._optimum]

    def search(  # noqa: D102
        self,
        starts: Sequence[Solution],
        *,
        patience: Patience = ENDLESS,
        kicks: int | None = None,
        seed: int = 0,
        listener: Listener | None = None,
    ) -> None:
        verdict = check(self.instance, self._optimum)
        if listener is not None and verdict.feasible and verdict.objective is not None:
            listener(verdict.objective)

    @cached_property
    def _optimum(self) -> Solution:
        instance = self.instance
        rank = instance.problem.rank
        return min(every_solution(instance), key=lambda found: rank(check(instance, found)))

    def _polish(self, solutions: Sequence[Solution], patience: Patience) -> list[Solution]:
        return [self._optimum] * len(solutions)


def every_solution(instance: Instance) -> Iterator[Solution]:
    """Go through all ordered choices of nodes, cut into routes in all ways; the checker judges."""
    problem = instance.problem
    nodes = range(int(problem.has_depot), instance.num_nodes)
    # Routes visit all customers, even where no vehicle is left for some.
    fewest = 0 if problem.single_tour else len(nodes)
    counts = range(fewest, len(nodes) + 1)
    for order in chain.from_iterable(permutations(nodes, count) for count in counts):
        if problem.single_tour:
            yield Solution([order])
            continue
        for cuts in product((False, True), repeat=max(0, len(order) - 1)):
            yield Solution(_cut(order, cuts))


def _cut(order: Sequence[int], cuts: Sequence[bool]) -> list[list[int]]:
    """Begin a new route wherever there is a cut before a node."""
    routes = [[node] for node in order[:1]]
    for node, is_new in zip(order[1:], cuts, strict=True):
        if is_new:
            routes.append([])
        routes[-1].append(node)
    return routes
