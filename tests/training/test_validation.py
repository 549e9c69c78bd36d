"""Validation: all starts, also of policies that choose their first node themselves."""

import pytest
import torch

from metasage.policies.config import PolicyConfig
from metasage.policies.policy import AttentionPolicy
from metasage.problems.sets import generate
from metasage.rollout import get_engine
from metasage.rollout.interface import Decoding, Request
from metasage.training.validation import SEED, gap, validate

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
