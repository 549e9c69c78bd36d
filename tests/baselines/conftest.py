"""Small instances and their optima, by looking at every solution."""

from itertools import chain, combinations, pairwise, permutations

import pytest

import metasage

SMALL = {
    "tsp": {"size": 7},
    "cvrp": {"size": 5, "capacity": 12},
    "pctsp": {"size": 6},
    "op": {"size": 6, "max_length": 1.5},
}


def small_instance(problem: str, seed: int) -> metasage.Instance:
    """Draw an instance whose constraints matter."""
    settings = dict(SMALL[problem])
    return metasage.generate(problem, settings.pop("size"), 1, seed, **settings)[0]


def every_solution(instance):
    """Yield all solutions but for the direction and the order of routes."""
    name, customers = instance.problem.name, range(1, instance.num_nodes)
    if name == "tsp":
        yield from ([[0, *rest]] for rest in permutations(customers))
    elif name == "cvrp":
        for order in permutations(customers):
            inner = range(1, len(order))
            cuts = chain.from_iterable(combinations(inner, k) for k in range(len(order)))
            for cut in cuts:
                ends = [0, *cut, len(order)]
                yield [order[a:b] for a, b in pairwise(ends)]
    else:
        for count in range(len(customers) + 1):
            yield from ([route] for route in permutations(customers, count))


def optimum(instance) -> float:
    """Return the best objective of all feasible solutions."""
    verdicts = (
        metasage.check(instance, metasage.Solution(routes)) for routes in every_solution(instance)
    )
    pick = min if instance.problem.sense == "min" else max
    return pick(verdict.objective for verdict in verdicts if verdict.feasible)


@pytest.fixture(params=sorted(SMALL))
def problem(request) -> str:
    """Return the name of each problem."""
    return request.param
