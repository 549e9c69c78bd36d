"""The native engine against the readable one, through the interface that users call."""

import pytest
import torch

from metasage.errors import InputError
from metasage.policies.config import PolicyConfig
from metasage.policies.policy import AttentionPolicy
from metasage.problems.sets import generate
from metasage.rollout import get_engine
from metasage.rollout.interface import Adapter, Decoding, EdgeBonus, EtaSums, LocalityBias, Request
from metasage.rollout.random import instance_seeds
from metasage.rollout.torch_engine import TorchEngine

pytest.importorskip("metasage._native")
from metasage.rollout.native_engine import NativeEngine

PROBLEMS = ["tsp", "cvrp", "pctsp", "op"]
COUNT, SIZE, ROLLOUTS = 3, 23, 21


def make_case(problem, width=64, seed=0, **options):
    torch.manual_seed(seed)
    free = {"starts": "free", "placeholder": problem == "tsp"} if problem in ("pctsp", "op") else {}
    config = PolicyConfig(problem, width=width, layers=2, mean_query=True, **(free | options))
    policy = AttentionPolicy(config)
    batch = policy.view(list(generate(problem, SIZE, COUNT, seed=seed)))
    starts = None
    if config.starts == "forced":
        nodes = torch.arange(ROLLOUTS) + int(config.rules.has_depot)
        starts = nodes.expand(COUNT, -1)
    return policy, batch, Request(ROLLOUTS, instance_seeds(seed, COUNT), starts=starts)


def random_adapter(width, place="after"):
    flat = torch.randn(COUNT, 2 * width * width + 2 * width) * 0.1
    return Adapter.from_flat(flat, place)


SCALE_INSIDE = {
    "pointer_locality": "inside",
    "glimpse_locality": True,
    "encoder_locality": True,
    "query_skip": True,
    "query_residual": True,
    "clip": 50.0,
}


def disturb(policy):
    """Move what starts at zero away from it."""
    with torch.no_grad():
        for name, parameter in policy.named_parameters():
            if "locality" in name or "residual" in name:
                parameter += 0.1 * torch.randn_like(parameter)


def ring_bonus():
    sources = torch.arange(SIZE).expand(COUNT, -1)
    return EdgeBonus(sources, (sources + 1) % SIZE, torch.linspace(0, 5, SIZE).expand(COUNT, -1))


DECODINGS = {
    "greedy": lambda width: Decoding(greedy=True),
    "plain": lambda width: Decoding(),
    "cool": lambda width: Decoding(temperature=0.4),
    "outside": lambda width: Decoding(bias=LocalityBias("outside", 2.0)),
    "inside": lambda width: Decoding(bias=LocalityBias("inside", 0.7)),
    "after": lambda width: Decoding(adapter=random_adapter(width)),
    "bonus": lambda width: Decoding(temperature=2.0, bonus=ring_bonus()),
    "before": lambda width: Decoding(adapter=random_adapter(width, "before")),
}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("kind", DECODINGS)
def test_both_engines_roll_out_the_same(problem, kind):
    policy, batch, request = make_case(problem, seed=PROBLEMS.index(problem) + 1)
    decoding = DECODINGS[kind](64)
    with torch.no_grad():
        inputs = policy(batch)
    ours = NativeEngine().rollout(batch, inputs, decoding, request)
    theirs = TorchEngine().rollout(batch, inputs, decoding, request)
    same = (ours.steps == theirs.steps) & torch.isclose(ours.cost, theirs.cost, rtol=1e-5)
    # A draw may lie on a boundary by chance: one in a thousand steps at the very most.
    assert same.float().mean() > 0.95
    assert torch.allclose(
        ours.log_likelihood[same], theirs.log_likelihood[same], rtol=1e-4, atol=1e-3
    )
    steps = min(ours.actions.shape[2], theirs.actions.shape[2])
    assert torch.equal(ours.actions[same][:, :steps], theirs.actions[same][:, :steps])


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("kind", ["plain", "outside", "inside", "after", "before"])
def test_gradients_of_all_weights_agree_with_autograd(problem, kind):
    policy, batch, request = make_case(problem, seed=5)
    decoding = DECODINGS[kind](64)
    eta = None
    if decoding.adapter is not None:
        eta = decoding.adapter.flat().requires_grad_()
        decoding = Decoding(adapter=Adapter.from_flat(eta, decoding.adapter.place))
    with torch.no_grad():
        rollouts = NativeEngine().rollout(batch, policy(batch), decoding, request)
    weights = torch.randn(COUNT, ROLLOUTS)
    found = []
    for engine in (NativeEngine(), TorchEngine()):
        policy.zero_grad()
        total = engine.weighted_log_likelihood(batch, policy(batch), decoding, rollouts, weights)
        wanted = [p for p in policy.parameters() if p.requires_grad]
        gradients = torch.autograd.grad(
            total, wanted + ([eta] if eta is not None else []), allow_unused=True
        )
        found.append([torch.zeros(1) if g is None else g for g in gradients])
    # Some gradients vanish, such as those of biases before a norm: rounding is all they are.
    scale = max(float(theirs.abs().max()) for theirs in found[1])
    for ours, theirs in zip(*found, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-3, atol=1e-5 * scale)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("pointer", ["inside", "outside"])
@pytest.mark.parametrize("neighbours", [None, 6])
def test_given_rollouts_are_scored_with_scale_inside_the_policy(problem, pointer, neighbours):
    options = SCALE_INSIDE | {"pointer_locality": pointer}
    policy, batch, request = make_case(problem, seed=8, **options)
    disturb(policy)
    decoding = Decoding(neighbours=neighbours)
    with torch.no_grad():
        rollouts = NativeEngine().rollout(batch, policy(batch), decoding, request)
    weights = torch.randn(COUNT, ROLLOUTS)
    found = []
    for engine in (NativeEngine(), TorchEngine()):
        total, logs = engine.given_log_likelihood(
            batch, policy(batch), decoding, rollouts.actions, weights, request.starts is None
        )
        gradients = torch.autograd.grad(total, list(policy.parameters()), allow_unused=True)
        found.append([torch.zeros(1) if g is None else g for g in gradients])
        assert torch.allclose(logs, rollouts.log_likelihood, rtol=1e-4, atol=1e-3)
        assert float(total.detach()) == pytest.approx(
            float((logs * weights).sum()), rel=1e-4, abs=1e-3
        )
    scale = max(float(theirs.abs().max()) for theirs in found[1])
    for ours, theirs in zip(*found, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-3, atol=2e-5 * scale)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_eta_sums_agree_with_autograd(problem):
    policy, batch, request = make_case(problem, seed=6)
    with torch.no_grad():
        inputs = policy(batch)
    decoding = Decoding(adapter=random_adapter(64), bias=LocalityBias("outside", 1.0))
    forced = NativeEngine().rollout(batch, inputs, decoding, request).actions[:, :2]
    sums = []
    for engine in (NativeEngine(), TorchEngine()):
        total = EtaSums.zeros(COUNT, 64)
        wish = Request(
            ROLLOUTS,
            request.seeds,
            starts=request.starts,
            forced=forced,
            eta_sums=total,
            centre=torch.full((COUNT,), 3.0, dtype=torch.float64),
        )
        engine.rollout(batch, inputs, decoding, wish)
        sums.append(total)
    for name in ("by_cost", "plain", "forced"):
        ours, theirs = (getattr(total, name) for total in sums)
        assert torch.allclose(ours, theirs, rtol=1e-3, atol=2e-4 * float(theirs.abs().max()))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_threads_do_not_change_anything(problem):
    policy, batch, request = make_case(problem, width=128, seed=7)
    with torch.no_grad():
        inputs = policy(batch)
    decoding = Decoding(adapter=random_adapter(128))
    results = []
    for threads in (1, 2):
        total = EtaSums.zeros(COUNT, 128)
        wish = Request(ROLLOUTS, request.seeds, starts=request.starts, eta_sums=total)
        rollouts = NativeEngine(threads).rollout(batch, inputs, decoding, wish)
        results.append((rollouts.actions, rollouts.log_likelihood, total.by_cost, total.plain))
    assert all(torch.equal(one, two) for one, two in zip(*results, strict=True))


def test_the_engine_is_chosen_by_what_it_can_do():
    assert get_engine("auto", PolicyConfig("tsp")).name == "native"
    assert get_engine("auto", PolicyConfig("tsp", width=32)).name == "torch"
    assert get_engine("torch", PolicyConfig("tsp")).name == "torch"
    with pytest.raises(InputError, match="width 32"):
        get_engine("native", PolicyConfig("tsp", width=32))
    with pytest.raises(InputError, match="'fast' is not one of"):
        get_engine("fast", PolicyConfig("tsp"))
