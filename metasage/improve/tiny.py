"""Instances of a handful of nodes: every solution is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain, permutations, product

from metasage.improve.improver import Improver
from metasage.problems import Instance, Solution, check

MOST_NODES = 5
"""Customers, or nodes without a depot, up to which all solutions are tried."""


class TinyImprover(Improver):
    """Finds an optimum, in less than a second, whatever time there is."""

    @property
    def best(self) -> Solution | None:  # noqa: D102
        return self._optimum

    def construct(self, deadline: float | None = None) -> Solution:  # noqa: D102
        return self._optimum

    @cached_property
    def _optimum(self) -> Solution:
        sign = 1 if self.instance.problem.sense == "min" else -1

        def rank(solution: Solution) -> tuple[bool, float]:
            verdict = check(self.instance, solution)
            return not verdict.feasible, sign * (verdict.objective or 0.0)

        return min(every_solution(self.instance), key=rank)

    def _polish(self, solutions: Sequence[Solution], deadline: float | None) -> list[Solution]:
        return [self._optimum] * len(solutions)

    def _improve(
        self,
        starts: Sequence[Solution],
        deadline: float | None,
        kicks: int | None,
        seed: int,
        tell: Callable[[float], None],
    ) -> Solution:
        verdict = check(self.instance, self._optimum)
        if verdict.feasible and verdict.objective is not None:
            tell(verdict.objective)
        return self._optimum


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
