"""Small instances of all problems and metrics, and what is best for them."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

from metasage.problems import Instance, Solution, check
from metasage.problems.cvrp import Cvrp
from metasage.problems.metric import EXACT_2D, Metric
from metasage.problems.op import Op
from metasage.problems.pctsp import Pctsp
from metasage.problems.tsp import Tsp

PROBLEMS = ("tsp", "pctsp", "op", "cvrp")


def make_instance(
    problem: str, nodes: int, seed: int, metric: Metric = EXACT_2D, scale: float = 1.0
) -> Instance:
    """Draw an instance whose bound lets it visit about half of its nodes."""
    random = np.random.default_rng(seed)
    coords = random.uniform(0, scale, (nodes, 2))
    matrix = None
    if metric.name == "EXPLICIT":
        matrix = random.uniform(0, scale, (nodes, nodes))
        matrix, coords = np.triu(matrix, 1) + np.triu(matrix, 1).T, None
    common = {"coords": coords, "metric": metric, "matrix": matrix}
    weights = random.integers(1, 10, nodes).astype(float)
    weights[0] = 0
    if problem == "tsp":
        return Tsp(**common)
    if problem == "cvrp":
        return Cvrp(**common, demand=weights, capacity=20.0)
    size = Tsp(**common).tour_length(np.arange(nodes))
    if problem == "op":
        half = (0.35 if matrix is not None else 0.7) * size / np.sqrt(nodes)
        return Op(**common, prize=weights, max_length=max(half, 1e-6))
    penalty = random.uniform(0, size / nodes, nodes)
    penalty[0] = 0
    least = max(weights.sum() / 2, 1e-6)
    return Pctsp(**common, prize=weights, penalty=penalty, min_prize=least)


def optimum(instance: Instance) -> float:
    """Objective of the best solution, by trying all tours."""
    name = instance.problem.name
    if name == "tsp":
        others = range(1, instance.num_nodes)
        tours = ([0, *order] for order in permutations(others))
        return min(instance.tour_length(np.array(tour)) for tour in tours)
    lengths = {
        subset: min(instance.tour_length(np.array([0, *order])) for order in permutations(subset))
        for count in range(instance.num_nodes)
        for subset in combinations(range(1, instance.num_nodes), count)
    }
    if isinstance(instance, Op):
        fits = [s for s, length in lengths.items() if length <= instance.max_length]
        return float(max(instance.prize[[0, *s]].sum() for s in fits))
    if isinstance(instance, Pctsp):
        total = instance.penalty.sum()
        return float(
            min(
                length + total - instance.penalty[list(s)].sum()
                for s, length in lengths.items()
                if instance.prize[list(s)].sum() >= instance.min_prize
            )
        )
    assert isinstance(instance, Cvrp)
    fits = [s for s in lengths if s and instance.demand[list(s)].sum() <= instance.capacity]

    def cover(left: frozenset[int]) -> float:
        if not left:
            return 0.0
        first = min(left)
        return min(
            lengths[s] + cover(left - set(s)) for s in fits if s[0] == first and left >= set(s)
        )

    return cover(frozenset(range(1, instance.num_nodes)))


def objective(instance: Instance, solution: Solution) -> float:
    """Objective of a solution that has to be feasible, by the checker."""
    verdict = check(instance, solution)
    assert verdict.violation is None
    assert verdict.objective is not None
    return verdict.objective


def may_fail(instance: Instance) -> bool:
    """Whether no solution is feasible: a PCTSP of the depot alone has no prizes."""
    return instance.problem.infeasibility(instance) is not None


def no_worse(instance: Instance, new: Solution, old: Solution) -> bool:
    """Whether a solution is at least as good as another one."""
    difference = objective(instance, new) - objective(instance, old)
    return difference <= 0 if instance.problem.sense == "min" else difference >= 0
