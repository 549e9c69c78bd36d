"""Rollouts and neighbours that fit in a time limit."""

import time

import pytest

import metasage
from metasage import Greedy, MaxRuntime, Sage
from metasage.policies.library import find_model
from metasage.solving.budget import within_time


def planned(size, seconds, method=None, threads=2):
    instance = metasage.generate("tsp", size, 1, 1)[0]
    policy = find_model("pomo-tsp").policy
    return within_time(method or Sage(), instance, policy, seconds, threads)


def test_enough_time_leaves_as_many_rollouts_as_nodes():
    found = planned(100, 60)
    assert (found.rollouts, found.neighbours) == (100, None)


def test_less_time_means_fewer_rollouts_and_then_fewer_nodes():
    plans = [planned(1000, seconds) for seconds in (1000, 100, 10, 1)]
    rollouts = [plan.rollouts for plan in plans]
    assert rollouts == sorted(rollouts, reverse=True)
    assert rollouts[0] > 10 * rollouts[-1]
    assert plans[0].neighbours is None
    assert 50 <= plans[-1].neighbours < 1000
    assert min(rollouts) >= 32


def test_a_greedy_round_has_more_rollouts_than_twenty_that_learn():
    assert planned(1000, 10, Greedy()).rollouts > planned(1000, 10, Sage()).rollouts


def test_what_a_user_asked_for_stays():
    assert planned(5000, 1, Sage(rollouts=500)) == Sage(rollouts=500)
    assert planned(5000, 1, Sage(neighbours=100)).neighbours == 100


def test_more_threads_and_less_augmentation_allow_more_rollouts():
    base = planned(1000, 100).rollouts
    assert planned(1000, 100, threads=1).rollouts < base
    assert planned(1000, 100, Sage(augment=8)).rollouts < base


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "pctsp", "op"])
def test_ten_thousand_nodes_keep_a_time_limit(problem):
    instance = metasage.generate(problem, 10_000, 1, 1)[0]
    began = time.monotonic()
    result = metasage.solve(instance, Sage(), MaxRuntime(6.0))
    assert time.monotonic() - began < 8  # room for a busy machine
    assert metasage.check(instance, result.best).feasible
