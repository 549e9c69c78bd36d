"""The objectives of meta-training: their values by hand, their gradients by autograd."""

from dataclasses import replace

import pytest
import torch

from metasage.policies.config import PolicyConfig
from metasage.policies.model import Model
from metasage.policies.policy import AttentionPolicy
from metasage.policies.sml import ScaleMetaLearner
from metasage.rollout import get_engine
from metasage.training.sml.labels import Label
from metasage.training.sml.objective import distil_loss, zero_shot_loss
from metasage.training.sml.settings import SmlSettings

SETTINGS = SmlSettings(rollouts=8)


def policy_of(problem, starts="forced"):
    torch.manual_seed(0)
    config = PolicyConfig(problem, width=64, layers=1, hidden=64, starts=starts)
    return AttentionPolicy(config).eval().requires_grad_(False)


TERMS = {
    "zero": {"zero": 1.0},
    "biased": {"zero": 0.0, "biased": 1.0},
    "guided": {"zero": 0.0, "guided": 0.3},
}
TERMS["both"] = {"zero": 1.0, "guided": 0.3, "temperature": 0.5, "normalise_advantages": True}


@pytest.mark.parametrize("reading", ["paper", "official"])
@pytest.mark.parametrize("terms", TERMS)
def test_gradients_of_j_zero_agree_with_autograd_of_the_torch_engine(reading, terms, monkeypatch):
    # All guided tours: some are the same from another start, and none of those the best.
    monkeypatch.setattr("metasage.training.sml.objective._ELITE", 1.0)
    model = Model(policy_of("tsp"))
    settings = replace(SETTINGS, **TERMS[terms])
    batch = model.policy.view([Label(12, i).instance("tsp", 1) for i in range(2)])
    gradients = []
    for engine in ("torch", "native"):
        torch.manual_seed(5)
        learner = ScaleMetaLearner(reading, 64)
        torch.nn.init.normal_(learner.output.weight, std=0.01)
        loss, cost = zero_shot_loss(
            learner, model.policy, get_engine(engine, model.config), batch, settings, 7
        )
        assert cost > 0
        loss.backward()
        gradients.append([p.grad for p in learner.parameters()])
    largest = max(float(g.abs().max()) for g in gradients[0])
    assert largest > 0
    for expected, found in zip(*gradients, strict=True):
        torch.testing.assert_close(found, expected, atol=1e-4 * largest, rtol=1e-3)


@pytest.mark.parametrize(("problem", "starts"), [("cvrp", "forced"), ("op", "free")])
def test_j_zero_by_hand(problem, starts, monkeypatch):
    policy = policy_of(problem, starts)
    batch = policy.view([Label(12, i).instance(problem, 1) for i in range(2)])
    engine = get_engine("torch", policy.config)
    learner = ScaleMetaLearner("official", 64)
    torch.nn.init.normal_(learner.output.weight, std=0.01)
    sampled = []
    original = engine.rollout
    monkeypatch.setattr(engine, "rollout", lambda *a: sampled.append(original(*a)) or sampled[-1])
    settings = replace(SETTINGS, zero=2.0, imitation=0.3)
    loss, cost = zero_shot_loss(learner, policy, engine, batch, settings, 7)
    (found,) = sampled
    assert cost == pytest.approx(float(found.cost.mean()))
    # Descending it makes cheap rollouts likelier, and the cheapest one once more.
    likelihood = found.log_likelihood.double()
    advantage = found.cost.double() - found.cost.double().mean(dim=1, keepdim=True)
    best = found.cost.argmin(dim=1, keepdim=True)
    by_hand = (advantage * likelihood).mean(dim=1) - 0.3 * likelihood.gather(1, best)[:, 0]
    assert float(loss.detach()) == pytest.approx(2.0 * float(by_hand.mean()), rel=1e-4)


def test_j_distil_is_the_mean_of_norms_and_descends_towards_the_teacher():
    model = Model(policy_of("tsp"))
    batch = model.policy.view([Label(10, i).instance("tsp", 1) for i in range(2)])
    moved = torch.stack([torch.ones(10, 64), 2 * torch.ones(10, 64)])
    learner = ScaleMetaLearner("official", 64)
    loss = distil_loss(learner, model.policy, batch, moved)
    assert float(loss.detach()) == pytest.approx(1.5 * 640**0.5)
    loss.backward()
    with torch.no_grad():
        learner.output.weight -= 1e-3 * learner.output.weight.grad
    assert float(distil_loss(learner, model.policy, batch, moved)) < float(loss)


def test_guided_tours_become_likelier():
    model = Model(policy_of("tsp"))
    settings = replace(SETTINGS, zero=0.0, guided=1.0)
    batch = model.policy.view([Label(12, i).instance("tsp", 1) for i in range(2)])
    engine = get_engine("torch", model.config)  # whose loss has a value of its own
    learner = ScaleMetaLearner("official", 64)
    loss, _ = zero_shot_loss(learner, model.policy, engine, batch, settings, 7)
    assert float(loss) > 0  # minus a mean log-likelihood
    loss.backward()
    with torch.no_grad():
        gradient = learner.output.weight.grad
        learner.output.weight -= 0.1 * gradient / gradient.norm()
    assert float(zero_shot_loss(learner, model.policy, engine, batch, settings, 7)[0]) < float(loss)


@pytest.mark.parametrize("starts", ["forced", "free"])
def test_guided_tours_differ(starts, monkeypatch):
    policy = policy_of("op", starts)
    batch = policy.view([Label(20, i).instance("op", 1) for i in range(2)])
    engine = get_engine("torch", policy.config)
    imitated = []

    def watch(batch, inputs, decoding, rollouts, weights):
        imitated.append(rollouts)
        return original(batch, inputs, decoding, rollouts, weights)

    original = engine.weighted_log_likelihood
    monkeypatch.setattr(engine, "weighted_log_likelihood", watch)
    monkeypatch.setattr("metasage.training.sml.objective._ELITE", 1.0)
    settings = replace(SETTINGS, zero=0.0, guided=1.0)
    zero_shot_loss(ScaleMetaLearner("official", 64), policy, engine, batch, settings, 7)
    (tours,) = imitated
    for row in tours.actions:
        assert len({tuple(tour.tolist()) for tour in row}) > 4
