"""Solvers of others that stand for those of the paper."""

from __future__ import annotations

from collections.abc import Sequence

from metasage.baselines import get_baseline
from metasage.experiments.bench import Bench, Found
from metasage.problems import Instance

SOLVERS = {"tsp": "lkh", "cvrp": "pyvrp", "pctsp": "pyvrp", "op": "pyvrp"}
"""LKH for Concorde, PyVRP for LKH3 and Compass."""

# Below it a solver has hardly begun.
_LEAST_SECONDS = 1.0


def solve_as_long(bench: Bench, problem: str, size: int, others: Sequence[Found]) -> list[Found]:
    """Give a solver the seconds of other searches, on one core.

    Parameters
    ----------
    bench
        Runs and remembers.
    problem, size
        The test set.
    others
        Searches of its first instances.

    Returns
    -------
    list of Found
        Nothing where the solver is not installed.
    """
    solver = get_baseline(SOLVERS[problem])
    if not solver.is_available():
        return []
    found = []
    for index, instance in enumerate(bench.instances(problem, size, len(others))):
        seconds = others[index].seconds

        def make(instance: Instance = instance, seconds: float = seconds) -> Found:
            outcome = solver.solve(instance, max(_LEAST_SECONDS, seconds), bench.seed)
            curve = [(at, 0, objective) for at, objective in outcome.curve]
            return Found(outcome.objective, outcome.seconds, curve, {})

        found.append(bench.remembered(solver.name, problem, size, index, [seconds], make))
    return found
