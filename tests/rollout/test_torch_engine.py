"""The reference engine against enumeration and hand computation."""

import math
import time
from dataclasses import replace
from itertools import permutations

import pytest
import torch
from rollout_cases import (
    BIASES,
    ENGINE,
    PROBLEMS,
    all_starts,
    feasible_batch,
    made_policy,
    prepared,
    random_adapter,
)

from metasage.problems import Solution, check
from metasage.problems.batch import Batch
from metasage.problems.tsp import Tsp
from metasage.rollout.interface import (
    DeadlineReached,
    DecoderInputs,
    Decoding,
    LocalityBias,
    Request,
)
from metasage.rollout.random import instance_seeds
from metasage.runtime.interrupts import Patience


def every_rollout(instance):
    """All feasible rollouts, found with the checker alone, padded with node 0."""
    problem = instance.problem
    nodes = range(int(problem.has_depot), instance.num_nodes)
    found = set()
    for length in range(len(nodes) + 1):
        for order in permutations(nodes, length):
            for cuts in range(1 if problem.single_tour else 2 ** max(0, length - 1)):
                routes = [[]]
                for position, node in enumerate(order):
                    routes[-1].append(node)
                    if position < length - 1 and cuts >> position & 1:
                        routes.append([])
                if check(instance, Solution(routes)).feasible:
                    found.add(tuple(problem.to_actions(Solution(routes))))
    longest = max(map(len, found))
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in sorted(found)])


@pytest.mark.parametrize("style", ["am", "pomo"])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_rollouts_are_feasible(problem, style):
    instances, batch = feasible_batch(problem, 15, 3)
    batch = Batch.of(instances)
    inputs = made_policy(problem, style)(batch)
    starts = all_starts(batch)[:, :5] if style == "pomo" else None
    for greedy in (True, False):
        request = Request(5, instance_seeds(3, 3), starts=starts)
        found = ENGINE.rollout(batch, inputs, Decoding(greedy=greedy), request)
        for row, instance in enumerate(instances):
            for rollout in range(5):
                steps = found.actions[row, rollout, : found.steps[row, rollout]]
                solution = batch.problem.to_solution(steps)
                verdict = check(instance, solution)
                assert verdict.feasible, verdict.violation
                assert batch.problem.to_actions(solution) == steps.tolist()
                unit = -instance.prize.max() if problem == "op" else 1.0
                cost = float(found.cost[row, rollout])
                assert cost * unit == pytest.approx(verdict.objective, rel=1e-5)
        assert not found.actions[
            torch.arange(found.actions.shape[2]) >= found.steps[..., None]
        ].any()


@pytest.mark.parametrize("bias", BIASES, ids=str)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_probabilities_of_all_rollouts_add_up_to_one(problem, bias):
    instances, batch, inputs = prepared(problem, size=4, count=1)
    decoding = Decoding(temperature=1.7, bias=bias, adapter=random_adapter(1))
    forced = every_rollout(instances[0])
    request = Request(0, instance_seeds(0, 1), forced=forced[None])
    found = ENGINE.rollout(batch, inputs, decoding, request)
    probabilities = found.log_likelihood[0].exp()
    assert len(probabilities) > 3
    assert bias is not None or float(probabilities.max()) < 0.99
    assert float(probabilities.sum()) == pytest.approx(1, abs=1e-9)
    # Given the first step, the rest adds up to one for each first node.
    request = replace(request, starts=torch.zeros(1, 0, dtype=torch.long))
    given = ENGINE.rollout(batch, inputs, decoding, request).log_likelihood[0].exp()
    for node in forced[:, 0].unique():
        assert float(given[forced[:, 0] == node].sum()) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_samples_follow_their_probabilities(problem):
    instances, batch, inputs = prepared(problem, size=3, count=1)
    rollouts = 20_000
    forced = every_rollout(instances[0])
    request = Request(rollouts, instance_seeds(5, 1), forced=forced[None])
    found = ENGINE.rollout(batch, inputs, Decoding(temperature=2.0), request)
    length = max(found.actions.shape[2], forced.shape[1])
    padded = torch.nn.functional.pad(found.actions[0], (0, length - found.actions.shape[2]))
    for i in range(len(forced)):
        same = (padded[:rollouts] == padded[rollouts + i]).all(-1)
        probability = float(found.log_likelihood[0, rollouts + i].exp())
        deviation = math.sqrt(probability * (1 - probability) / rollouts)
        assert float(same.double().mean()) == pytest.approx(probability, abs=5 * deviation + 1e-4)


@pytest.mark.parametrize("style", ["am", "pomo"])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_forced_rollouts_reproduce_what_was_sampled(problem, style):
    _, batch, inputs = prepared(problem, style=style)
    starts = all_starts(batch) if style == "pomo" else None
    decoding = Decoding(temperature=1.3, bias=BIASES[1], adapter=random_adapter(2))
    request = Request(6, instance_seeds(1, 2), starts=starts)
    sampled = ENGINE.rollout(batch, inputs, decoding, request)
    both = ENGINE.rollout(batch, inputs, decoding, replace(request, forced=sampled.actions))
    for field in ("actions", "steps", "log_likelihood", "cost"):
        chosen, forced = getattr(both, field).split(6, dim=1)
        assert torch.allclose(chosen, getattr(sampled, field))
        assert torch.allclose(forced, getattr(sampled, field))
    weights = torch.randn(2, 6, dtype=torch.float64)
    total = ENGINE.weighted_log_likelihood(batch, inputs, decoding, sampled, weights)
    assert float(total) == pytest.approx(float((weights * sampled.log_likelihood).sum()))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_starts_are_respected_and_not_scored(problem):
    _, batch, inputs = prepared(problem)
    starts = all_starts(batch)
    request = Request(6, instance_seeds(1, 2), starts=starts)
    found = ENGINE.rollout(batch, inputs, Decoding(), request)
    assert torch.equal(found.actions[..., 0], starts)
    assert not found.first_scored
    free = Request(0, instance_seeds(1, 2), forced=found.actions)
    scored = ENGINE.rollout(batch, inputs, Decoding(), free)
    assert scored.first_scored
    # The difference is the first step, whose probabilities add up to at most one.
    first = (scored.log_likelihood - found.log_likelihood).exp()
    assert bool((first < 1).all())
    limit = torch.ones(2, dtype=torch.float64)
    assert bool((first.sum(1) <= limit + 1e-9).all())
    if problem in ("tsp", "cvrp"):
        assert torch.allclose(first.sum(1), limit)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_cold_policy_is_greedy(problem):
    _, batch, inputs = prepared(problem, size=10)
    request = Request(4, instance_seeds(2, 2))
    greedy = ENGINE.rollout(batch, inputs, Decoding(greedy=True), request)
    cold = ENGINE.rollout(batch, inputs, Decoding(temperature=1e-7), request)
    assert torch.equal(greedy.actions, cold.actions)
    assert torch.allclose(cold.log_likelihood, torch.zeros(2, 4, dtype=torch.float64), atol=1e-6)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_chunks_and_company_change_nothing(problem):
    _, batch, inputs = prepared(problem, count=3)
    seeds = instance_seeds(4, 3)
    whole = ENGINE.rollout(batch, inputs, Decoding(), Request(8, seeds))
    costs = [
        ENGINE.rollout(batch, inputs, Decoding(), Request(count, seeds, offset)).cost
        for offset, count in ((0, 3), (3, 5))
    ]
    assert torch.allclose(torch.cat(costs, dim=1), whole.cost)
    alone = batch.select(torch.tensor([1]))
    policy = made_policy(problem).double()
    found = ENGINE.rollout(alone, policy(alone), Decoding(), Request(8, seeds[1:2]))
    assert torch.allclose(found.cost, whole.cost[1:2])


def hand_made(scores):
    """Inputs with one dimension whose scores at every step are the given ones."""
    nodes = len(scores)
    zeros = torch.zeros(1, nodes, 1, dtype=torch.float64)
    return DecoderInputs(
        keys=zeros,
        values=zeros + 1,
        pointers=torch.tensor(scores, dtype=torch.float64).view(1, nodes, 1),
        query_last=zeros,
        query_first=None,
        query_scalar=None,
        query_start=None,
        combine_weight=torch.ones(1, 1, dtype=torch.float64),
        combine_bias=None,
        heads=1,
        clip=10.0,
    )


@pytest.mark.parametrize("inside", [False, True])
def test_logits_with_the_policys_own_locality_by_hand(inside):
    # From node 0, nodes 1 and 2 are 0.5 and 1 away; the mean distance is 4/6.
    batch = Batch.of([Tsp(coords=[[0.0, 0.0], [0.3, 0.4], [0.6, 0.8]])])
    scores, units = (0.7, -0.2, 0.4), (0.0, 0.75, 1.5)
    inputs = replace(
        hand_made(scores),
        pointer_locality=torch.tensor([0.3, 0.1], dtype=torch.float64),
        locality_inside=inside,
    )
    forced = torch.tensor([[[0, 1, 2], [0, 2, 1]]])
    _, found = ENGINE.given_log_likelihood(
        batch, inputs, Decoding(), forced, torch.ones(1, 2), first_scored=False
    )
    logits = []
    for j in (1, 2):
        own = 0.3 * units[j] + 0.1 * math.log2(1 + units[j])
        logits.append(
            10 * math.tanh(scores[j] - own) if inside else 10 * math.tanh(scores[j]) - own
        )
    total = math.log(sum(map(math.exp, logits)))
    assert found[0].tolist() == pytest.approx([logit - total for logit in logits], abs=1e-6)


@pytest.mark.parametrize("temperature", [1.0, 0.4])
@pytest.mark.parametrize("kind", [None, "outside", "inside"])
def test_logits_with_a_locality_bias_by_hand(kind, temperature):
    # From node 0, nodes 1 and 2 are 0.5 and 1 away.
    batch = Batch.of([Tsp(coords=[[0.0, 0.0], [0.3, 0.4], [0.6, 0.8]])])
    scores, distances, strength = (0.7, -0.2, 0.4), (0.0, 0.5, 1.0), 0.8
    forced = torch.tensor([[[0, 1, 2], [0, 2, 1]]])
    request = Request(
        0,
        instance_seeds(0, 1),
        starts=torch.zeros(1, 0, dtype=torch.long),
        forced=forced,
    )
    bias = None if kind is None else LocalityBias(kind, strength)
    decoding = Decoding(temperature=temperature, bias=bias)
    found = ENGINE.rollout(batch, hand_made(scores), decoding, request)
    logits = [
        {
            None: 10 * math.tanh(scores[j]),
            "outside": 10 * math.tanh(scores[j]) - strength * distances[j],
            "inside": 10 * math.tanh(scores[j] - distances[j] ** strength),
        }[kind]
        / temperature
        for j in (1, 2)
    ]
    total = math.log(sum(map(math.exp, logits)))
    expected = [logit - total for logit in logits]
    assert found.log_likelihood[0].tolist() == pytest.approx(expected, abs=1e-6)


def test_a_rollout_leaves_no_graph():
    _, batch = feasible_batch("tsp", 6, 1)
    policy = made_policy("tsp").double().requires_grad_()
    found = ENGINE.rollout(batch, policy(batch), Decoding(), Request(2, instance_seeds(0, 1)))
    assert not found.log_likelihood.requires_grad


def test_the_engine_gives_up_at_the_deadline():
    _, batch, inputs = prepared("tsp")
    request = Request(2, instance_seeds(0, 2), patience=Patience(time.monotonic() - 1))
    with pytest.raises(DeadlineReached):
        ENGINE.rollout(batch, inputs, Decoding(), request)
