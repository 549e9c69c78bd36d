"""The batched rules against brute force and against the independent checker."""

from itertools import permutations

import numpy as np
import pytest
import torch

from metasage.problems import Solution, all_problems, check
from metasage.problems.batch import Batch, unit_square
from metasage.problems.cvrp import Cvrp
from metasage.problems.metric import METRICS
from metasage.problems.op import Op
from metasage.problems.pctsp import Pctsp
from metasage.problems.sets import generate
from metasage.problems.tsp import Tsp

PLACES = np.array([[0.5, 0.5], [0.1, 0.9], [0.9, 0.8], [0.4, 0.1]])
TINY = [
    Tsp(coords=PLACES),
    Cvrp(coords=PLACES, demand=[0, 4, 3, 6], capacity=9),
    Pctsp(coords=PLACES, prize=[0, 0.7, 0.6, 0.3], penalty=[0, 0.2, 0.1, 0.4]),
    Op(coords=PLACES, prize=[0, 1, 2, 3], max_length=1.9),
]


def rollouts_allowed(instance):
    """All complete action sequences that the rules let through, depth first."""
    batch = Batch.of([instance])
    found, open_ends = set(), [()]
    while open_ends:
        prefix = open_ends.pop()
        rules = instance.problem.rules(batch, 1)
        for node in prefix:
            rules.step(torch.tensor([[node]]))
        if rules.done.all():
            found.add(prefix)
            continue
        allowed = (~rules.forbidden()[0, 0]).nonzero().flatten().tolist()
        assert allowed, "a rollout must never be stuck"
        open_ends += [(*prefix, node) for node in allowed]
    return found


def ordered_solutions(instance):
    """Every way to write routes through some or all nodes, feasible or not."""
    first = int(instance.problem.has_depot)
    nodes = range(first, instance.num_nodes)
    for length in range(len(nodes) + 1):
        for order in permutations(nodes, length):
            if instance.problem.single_tour:
                yield Solution([order])
                continue
            for cuts in range(2 ** max(0, length - 1)):
                routes = [[]]
                for position, node in enumerate(order):
                    routes[-1].append(node)
                    if position < length - 1 and cuts >> position & 1:
                        routes.append([])
                yield Solution(routes)


@pytest.mark.parametrize("instance", TINY, ids=lambda i: i.problem.name)
def test_rules_allow_exactly_the_feasible_solutions(instance):
    feasible = {
        tuple(instance.problem.to_actions(solution))
        for solution in ordered_solutions(instance)
        if check(instance, solution).feasible
    }
    assert len(feasible) > 1
    assert rollouts_allowed(instance) == feasible


def random_rollouts(batch, rollouts, seed):
    torch.manual_seed(seed)
    rules = batch.problem.rules(batch, rollouts)
    steps = []
    while not rules.done.all():
        free = (~rules.forbidden()).float()
        nodes = torch.multinomial(free.flatten(0, 1), 1).view(rules.current.shape)
        rules.step(nodes)
        steps.append(nodes)
    return torch.stack(steps, dim=-1)


@pytest.mark.parametrize("name", list(all_problems()))
@pytest.mark.parametrize("size", [1, 2, 7, 60])
def test_random_rollouts_are_feasible_and_cost_what_the_checker_says(name, size):
    instances = list(generate(name, size, 3, seed=size))
    if any(instance.problem.infeasibility(instance) for instance in instances):
        pytest.skip("one or two prizes of the recipe need not reach the minimum")
    batch = Batch.of(instances)
    actions = random_rollouts(batch, 6, seed=size)
    costs = batch.problem.cost(batch, actions)
    originals = [
        batch.problem.objectives(i, a.numpy()) for i, a in zip(instances, actions, strict=True)
    ]
    for row, instance in enumerate(instances):
        for rollout in range(6):
            solution = batch.problem.to_solution(actions[row, rollout])
            verdict = check(instance, solution)
            assert verdict.feasible, verdict.violation
            assert originals[row][rollout] == pytest.approx(verdict.objective, rel=1e-12)
            unit = -instance.prize.max() if name == "op" else unit_square(instance)[1]
            assert float(costs[row, rollout]) * unit == pytest.approx(verdict.objective, rel=1e-5)


@pytest.mark.parametrize("name", list(all_problems()))
def test_actions_and_solutions_are_the_same_thing(name):
    batch = Batch.of([generate(name, 12, 1, seed=5)[0]])
    actions = random_rollouts(batch, 1, seed=0)[0, 0]
    solution = batch.problem.to_solution(actions)
    again = batch.problem.to_solution(batch.problem.to_actions(solution))
    assert again == solution


def test_op_rules_respect_rounded_lengths_to_the_unit():
    # Two customers at true distance 10.4 each way: 10 + 10 when rounded.
    instance = Op(
        coords=[[0, 0], [10.4, 0], [0, 10.6]],
        prize=[0, 1, 1],
        max_length=20,
        metric=METRICS["EUC_2D"],
    )
    assert rollouts_allowed(instance) == {(0,), (1, 0)}


def test_cvrp_decimal_demands_fill_a_vehicle_exactly():
    instance = Cvrp(
        coords=np.random.default_rng(0).random((11, 2)), demand=[0] + [0.1] * 10, capacity=1.0
    )
    rules = instance.problem.rules(Batch.of([instance]), 1)
    for node in range(1, 10):
        rules.step(torch.tensor([[node]]))
    assert not rules.forbidden()[0, 0, 10]
    assert check(instance, Solution([range(1, 11)])).feasible


def test_cvrp_fractional_demands_never_overload():
    rng = np.random.default_rng(1)
    instance = Cvrp(
        coords=rng.random((41, 2)), demand=np.append(0, rng.random(40) / 3), capacity=1.0
    )
    batch = Batch.of([instance])
    for rollout in random_rollouts(batch, 50, seed=2)[0]:
        assert check(instance, batch.problem.to_solution(rollout)).feasible
