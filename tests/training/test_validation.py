"""Validation: all starts, also of policies that choose their first node themselves."""

import time

import pytest
import torch

from metasage.policies.config import PolicyConfig
from metasage.policies.policy import AttentionPolicy
from metasage.problems.sets import generate
from metasage.rollout import get_engine
from metasage.rollout.interface import Decoding, Request
from metasage.training.settings import Stage, TrainingSettings
from metasage.training.validation import SEED, Validator, gap, reference, validate

SIZE, COUNT = 12, 4


@pytest.mark.parametrize("problem", ["op", "pctsp"])
def test_free_policies_are_validated_from_all_first_nodes(problem):
    torch.manual_seed(3)
    config = PolicyConfig(problem=problem, width=64, layers=1, hidden=64, starts="free")
    policy = AttentionPolicy(config).eval()
    engine = get_engine("torch", config)
    found = validate(policy, engine, SIZE, COUNT)
    best = []
    for instance in generate(problem, SIZE, COUNT, SEED):
        batch = policy.view([instance], torch.device("cpu"))
        costs = []
        for first in range(1, SIZE + 1):
            starts = torch.tensor([[first]])
            request = Request(1, torch.zeros(1, dtype=torch.long), starts=starts)
            with torch.no_grad():
                rollouts = engine.rollout(batch, policy(batch), Decoding(greedy=True), request)
            costs.append(float(rollouts.cost))
        best.append(min(costs))
    assert found == pytest.approx(abs(sum(best) / COUNT), rel=1e-5)


def test_the_gap_is_positive_where_the_policy_is_worse(monkeypatch):
    monkeypatch.setattr("metasage.training.validation.reference", lambda *_: 10.0)
    assert gap("tsp", 100, 64, 11.0) == pytest.approx(0.1)
    assert gap("op", 100, 64, 9.0) == pytest.approx(0.1)


def make_validator(sizes, count=5):
    settings = TrainingSettings(
        "pomo", "tsp", (Stage((8,), 4, 4, 1, 1e-3),), validation_sizes=sizes, validation_count=count
    )
    torch.manual_seed(3)
    policy = AttentionPolicy(PolicyConfig("tsp", width=64, layers=1, hidden=64)).eval()
    return Validator(settings, get_engine("torch", policy.config)), policy


def test_every_size_is_validated_and_the_first_stands_out():
    validator, policy = make_validator((8, 12))
    row = validator(policy)
    expected = {str(n): validate(policy, validator.engine, n, 5) for n in (8, 12)}
    assert row["validations"] == pytest.approx(expected)
    assert row["validation"] == row["validations"]["8"]
    assert (row["validation_size"], row["gap"]) == (8, None)
    assert row["gaps"] == {"8": None, "12": None}
    assert validator.seconds > 0


def test_sizes_with_references_have_their_counts(monkeypatch):
    counts = []

    def costs(policy, engine, size, count, patience):
        counts.append((size, count))
        yield torch.full((count,), 2.0 * reference("tsp", size, count) if size > 8 else 1.0)

    monkeypatch.setattr("metasage.training.validation._costs", costs)
    validator, policy = make_validator((100, 8, 1000))
    row = validator(policy)
    assert counts == [(100, 64), (8, 5), (1000, 4)]
    assert row["gaps"] == {"100": pytest.approx(1.0), "8": None, "1000": pytest.approx(1.0)}
    assert row["gap"] == pytest.approx(1.0)


def test_a_validation_that_takes_too_long_is_none_and_tells_what_it_takes():
    validator, policy = make_validator((40,), count=64)
    whole = validator(policy)
    known = validator.seconds
    assert whole["validation"] > 0
    began = time.monotonic()
    assert validator(policy, known / 20) is None
    assert time.monotonic() - began < known
    assert validator.seconds > known / 20
    assert validator.unknown() == {"validation": None, "validation_size": 40, "gap": None}
