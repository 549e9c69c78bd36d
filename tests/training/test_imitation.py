"""Imitation of local search: the loss, its gradient, and who computes which part of it."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from metasage.errors import InputError
from metasage.policies.config import PolicyConfig
from metasage.policies.policy import AttentionPolicy
from metasage.rollout import get_engine
from metasage.rollout.interface import Decoding, Request
from metasage.training import solved as solved_module
from metasage.training import step as step_module
from metasage.training.bank import Bank
from metasage.training.data import plan_steps
from metasage.training.processes import Processes
from metasage.training.settings import Stage, TrainingSettings
from metasage.training.step import compute_gradients, training_decoding
from metasage.training.train import train

PROBLEMS = ["tsp", "cvrp", "pctsp", "op"]
STAGE = Stage((9,), 5, 6, 3, 1e-3, reinforce=0.0, imitation=1.0, forms=3, kicks=0.5)


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch):
    monkeypatch.setattr(solved_module, "SHARD_NODES", 90)


@pytest.fixture
def bank():
    bank = Bank(None, 1)
    yield bank
    bank.close()


def make_policy(problem, **options):
    torch.manual_seed(5)
    return AttentionPolicy(PolicyConfig(problem, width=64, layers=1, hidden=64, **options))


def settings_of(problem, stage=STAGE, **options):
    return TrainingSettings("symnco", problem, (stage,), **options)


def gradients(policy, settings, bank, processes=None):
    """Gradients of the first step in one row, and what it reports."""
    engine = get_engine("torch", policy.config)
    plan = next(plan_steps(settings))
    report = compute_gradients(policy, engine, settings, plan, processes or Processes(), bank)
    given = [p.grad.flatten() for p in policy.parameters() if p.grad is not None]
    return torch.cat(given).clone(), report


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("starts", ["forced", "free"])
def test_the_gradient_is_the_slope_of_the_loss(problem, starts, bank):
    placeholder = problem == "tsp" and starts == "free"
    policy = make_policy(problem, starts=starts, placeholder=placeholder)
    settings = settings_of(problem)
    slope, _ = gradients(policy, settings, bank)
    learned = {n: p for n, p in policy.named_parameters() if p.grad is not None}
    sizes = [parameter.numel() for parameter in learned.values()]

    def loss_at(step):
        moved = copy.deepcopy(policy)
        with torch.no_grad():
            own = dict(moved.named_parameters())
            for name, part in zip(learned, torch.split(step, sizes), strict=True):
                parameter = own[name]
                parameter += part.view_as(parameter)
        return gradients(moved, settings, bank)[1].imitation

    # All of the gradient, and a random half of it.
    half = torch.rand(len(slope), generator=torch.Generator().manual_seed(1)) < 0.5
    for way in (slope, slope * half):
        way = way / way.norm()
        found = (loss_at(0.01 * way) - loss_at(-0.01 * way)) / 0.02
        assert found == pytest.approx(float(slope @ way), rel=0.02)


@pytest.mark.parametrize("starts", ["forced", "free"])
def test_the_loss_is_the_mean_over_decisions_then_forms_and_instances(starts, bank, monkeypatch):
    monkeypatch.setattr(step_module, "turned", lambda batch, maps: batch)
    policy = make_policy("pctsp", starts=starts)
    settings = settings_of("pctsp")
    _, report = gradients(policy, settings, bank)
    plan = next(plan_steps(settings))
    instances, actions = bank.take(plan, range(5))
    losses = []
    for instance, steps in zip(instances, actions, strict=True):
        nodes = [node for node in steps.tolist() if node]
        for way in (nodes, nodes[::-1]):
            rollout = torch.tensor([[[*way, 0]]])
            request = Request(
                1 if starts == "forced" else 0,
                torch.zeros(1, dtype=torch.long),
                starts=torch.tensor([[1]]) if starts == "forced" else None,
                forced=rollout,
            )
            batch = policy.view([instance])
            with torch.no_grad():
                found = get_engine("torch", policy.config).rollout(
                    batch, policy(batch), Decoding(), request
                )
            decisions = len(way) + 1 - (starts == "forced")
            losses.append(-float(found.log_likelihood[0, -1]) / decisions)
    assert report.imitation == pytest.approx(np.mean(losses), rel=1e-5)
    assert (report.cost, report.best) == (None, None)


@pytest.mark.parametrize("copies", [1, 2])
def test_both_losses_add_up(copies, bank):
    policy = make_policy("cvrp", projection_head=True)
    both = [
        settings_of(
            "cvrp", replace(STAGE, reinforce=1.0, imitation=weight), copies=copies, invariance=0.1
        )
        for weight in (1.0, 3.0)
    ]
    alone, known = gradients(policy, settings_of("cvrp", copies=copies), bank)
    policy.zero_grad()
    (once, report), (thrice, _) = (gradients(policy, settings, bank) for settings in both)
    assert report.imitation == pytest.approx(known.imitation, rel=1e-5)
    assert report.best < report.cost
    length = len(alone)  # without the projection head, which only the policy gradient moves
    assert torch.allclose((thrice - once)[:length] / 2, alone, atol=2e-5)
    assert float((once[:length] - alone).norm()) > 0.1 * float(alone.norm())


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("reinforce", [0.0, 1.0])
def test_the_parts_of_two_processes_are_the_whole(problem, reinforce, bank):
    class Half(Processes):
        def add(self, values):
            return values

    policy = make_policy(problem)
    settings = settings_of(problem, replace(STAGE, reinforce=reinforce), copies=2)
    whole, report = gradients(policy, settings, bank)
    halves = [gradients(policy, settings, bank, Half(rank, 2)) for rank in range(2)]
    assert torch.allclose(halves[0][0] + halves[1][0], whole, atol=2e-5)
    assert sum(half.imitation for _, half in halves) == pytest.approx(report.imitation, rel=1e-5)


def test_a_policy_of_near_nodes_learns_as_it_decodes(bank):
    assert training_decoding(PolicyConfig("tsp"), 9).neighbours is None
    assert training_decoding(PolicyConfig("tsp", neighbours=4), 9).neighbours == 4
    assert training_decoding(PolicyConfig("tsp", neighbours=9), 9).neighbours is None
    losses = [
        gradients(make_policy("tsp", neighbours=k), settings_of("tsp"), bank)[1].imitation
        for k in (0, 3)
    ]
    assert losses[1] < losses[0]


def test_fractional_loads_cannot_imitate(tmp_path):
    settings = settings_of("cvrp", policy={"fractional_load": True})
    with pytest.raises(InputError, match="must be exact"):
        train(tmp_path, settings)


def test_imitation_alone_teaches_a_policy(tmp_path):
    stage = replace(STAGE, sizes=(8, 10), batch=32, steps=40, lr=2e-3, labels=60)
    settings = TrainingSettings(
        "pomo", "tsp", (stage,), clip_norm=1.0, validation_sizes=(9,), validation_count=16,
        policy={"width": 64, "layers": 1, "hidden": 64}, log_every=1,
    )  # fmt: skip
    rows = []
    train(tmp_path, settings, listener=rows.append)
    losses = [row["imitation"] for row in rows if "imitation" in row]
    assert sum(losses[-5:]) < 0.6 * sum(losses[:5])
    validations = [row["validation"] for row in rows if "validation" in row]
    assert validations[-1] < 0.97 * validations[0]
