import time

import numpy as np
import pytest
import torch

import metasage
from metasage.baselines import all_baselines
from metasage.baselines.heuristics import random_insertion
from metasage.baselines.split import split
from metasage.baselines.two_opt import two_opt
from metasage.improve.nearest import nearest_neighbour
from metasage.problems.batch import Batch
from metasage.problems.cvrp import Cvrp

from .conftest import every_solution, optimum, small_instance

HEURISTICS = ("nearest", "random-insertion", "farthest-insertion")


def by_the_rules(instance):
    """Nearest neighbour, step by step with the rules that rollouts follow."""
    batch = Batch.of([instance])
    problem = batch.problem
    rules = problem.rules(batch, 1)
    actions = []
    while not bool(rules.done.all()):
        allowed = (~rules.forbidden())[0, 0].numpy()
        customers = np.flatnonzero(allowed[1:]) + 1
        if not problem.has_depot:
            customers = np.flatnonzero(allowed)
        # A single tour that is to be short ends as soon as it may.
        enough = problem.sense == "min" and problem.single_tour and problem.has_depot and allowed[0]
        home = len(customers) == 0 or enough
        if home or (not actions and not problem.has_depot):
            node = 0
        else:
            here = np.full(len(customers), actions[-1] if actions else 0)
            node = int(customers[instance.lengths(here, customers).argmin()])
        rules.step(torch.tensor([[node]]))
        actions.append(node)
    return problem.to_solution(actions)


@pytest.mark.parametrize("name", HEURISTICS)
@pytest.mark.parametrize("seed", [1, 2])
def test_no_heuristic_beats_the_optimum(problem, name, seed):
    heuristic = all_baselines()[name]
    if problem not in heuristic.problems:
        pytest.skip(f"{name} does not solve {problem}")
    instance = small_instance(problem, seed)
    found, best = heuristic.solve(instance, 1.0, seed).objective, optimum(instance)
    if instance.problem.sense == "min":
        assert best - 1e-9 <= found <= 2 * best
    else:
        assert 0 < found <= best + 1e-9


@pytest.mark.parametrize("size", [1, 2, 30])
def test_nearest_neighbour_is_that_of_the_rules(problem, size):
    constants = {"max_length": 9.0} if problem == "pctsp" else {}
    instance = metasage.generate(problem, size, 1, 4, **constants)[0]
    if instance.problem.infeasibility(instance):
        pytest.skip("one customer does not bring enough")
    assert nearest_neighbour(instance) == by_the_rules(instance)


def test_insertion_depends_on_the_seed_alone(problem):
    instance = metasage.generate(problem, 40, 1, 4)[0]
    assert random_insertion(instance, 1) == random_insertion(instance, 1)
    assert random_insertion(instance, 1) != random_insertion(instance, 2)


@pytest.mark.parametrize("name", HEURISTICS)
def test_a_thousand_nodes_take_less_than_a_second(problem, name):
    heuristic = all_baselines()[name]
    if problem not in heuristic.problems:
        pytest.skip(f"{name} does not solve {problem}")
    instance = metasage.generate(problem, 1000, 1, 4)[0]
    before = time.process_time()
    heuristic.solve(instance, 10.0, 1)
    assert time.process_time() - before < 1.0


def test_split_is_the_best_way_to_cut_a_tour():
    instance = small_instance("cvrp", 3)
    tour = (3, 1, 5, 2, 4)
    kept = [
        metasage.Solution(routes)
        for routes in every_solution(instance)
        if tuple(node for route in routes for node in route) == tour
    ]
    verdicts = [metasage.check(instance, solution) for solution in kept]
    best = min(verdict.objective for verdict in verdicts if verdict.feasible)
    found = metasage.check(instance, split(instance, np.array(tour)))
    assert found.feasible
    assert found.objective == pytest.approx(best)


def test_two_opt_leaves_no_reversal_that_helps():
    instance = metasage.generate("tsp", 30, 1, 5)[0]
    tour = two_opt(instance, metasage.Solution([range(30)])).routes[0]
    length = metasage.check(instance, metasage.Solution([tour])).objective
    for first in range(1, 30):
        for last in range(first + 1, 31):
            other = tour[:first] + tour[first:last][::-1] + tour[last:]
            assert metasage.check(instance, metasage.Solution([other])).objective >= length - 1e-6


def test_a_demand_within_the_tolerance_of_the_capacity_has_a_route():
    instance = Cvrp(
        coords=np.random.default_rng(0).uniform(size=(4, 2)),
        demand=[0, 1000.0000005, 3.3333333, 1 / 3],
        capacity=1000,
    )
    assert metasage.check(instance, nearest_neighbour(instance)).feasible
