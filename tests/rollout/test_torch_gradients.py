"""Adapters and gradients of the reference engine against finite differences."""

from dataclasses import replace

import pytest
import torch
from rollout_cases import (
    BIASES,
    ENGINE,
    PROBLEMS,
    WIDTH,
    all_starts,
    feasible_batch,
    made_policy,
    prepared,
    random_adapter,
)

from metasage.rollout.interface import Adapter, Decoding, EtaSums, Request
from metasage.rollout.random import instance_seeds


@pytest.mark.parametrize("place", ["after", "before"])
def test_an_adapter_that_adds_nothing_changes_nothing(place):
    _, batch, inputs = prepared("cvrp", size=8, style="pomo")
    some = random_adapter(2, place=place)
    nothing = replace(some, w2=torch.zeros_like(some.w2), b2=torch.zeros_like(some.b2))
    request = Request(8, instance_seeds(6, 2), starts=all_starts(batch))
    base = ENGINE.rollout(batch, inputs, Decoding(), request)
    same = ENGINE.rollout(batch, inputs, Decoding(adapter=nothing), request)
    assert torch.equal(base.actions, same.actions)
    assert torch.equal(base.log_likelihood, same.log_likelihood)
    other = ENGINE.rollout(batch, inputs, Decoding(adapter=some), request)
    assert not torch.equal(base.log_likelihood, other.log_likelihood)


def test_each_instance_has_its_own_adapter():
    _, batch, inputs = prepared("tsp", size=8)
    adapter = random_adapter(2)
    request = Request(4, instance_seeds(6, 2))
    both = ENGINE.rollout(batch, inputs, Decoding(adapter=adapter), request)
    swapped = Adapter.from_flat(adapter.flat().flip(0))
    other = ENGINE.rollout(batch, inputs, Decoding(adapter=swapped), replace(request, rollouts=4))
    assert not torch.equal(both.log_likelihood[0], other.log_likelihood[0])
    mixed = Adapter.from_flat(torch.stack([adapter.flat()[0], adapter.flat()[0]]))
    first = ENGINE.rollout(batch, inputs, Decoding(adapter=mixed), request)
    assert torch.allclose(first.log_likelihood[0], both.log_likelihood[0])


def test_adapters_lie_flat_and_come_back():
    adapter = random_adapter(3, place="before")
    again = Adapter.from_flat(adapter.flat(), adapter.place)
    assert again.place == "before"
    for name in ("w1", "b1", "w2", "b2"):
        assert torch.equal(getattr(adapter, name), getattr(again, name))


@pytest.mark.parametrize("bias", BIASES, ids=str)
@pytest.mark.parametrize("place", ["after", "before"])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_eta_sums_are_finite_differences(problem, place, bias):
    _, batch, inputs = prepared(problem, style="pomo")
    adapter = random_adapter(2, place=place)
    decoding = Decoding(temperature=0.8, bias=bias, adapter=adapter)
    starts = all_starts(batch)[:, :4]
    request = Request(4, instance_seeds(8, 2), starts=starts)
    forced = ENGINE.rollout(batch, inputs, Decoding(), replace(request, offset=50)).actions[:, :2]
    sums = EtaSums.zeros(2, WIDTH)
    centre = torch.tensor([0.7, -1.2], dtype=torch.float64)
    request = replace(request, forced=forced, eta_sums=sums, centre=centre)
    found = ENGINE.rollout(batch, inputs, decoding, request)
    scored = Request(0, request.seeds, starts=starts[:, :0], forced=found.actions)

    def log_likelihood(flat):
        moved = replace(decoding, adapter=Adapter.from_flat(flat, place))
        return ENGINE.rollout(batch, inputs, moved, scored).log_likelihood

    weights = {
        "by_cost": (found.cost - centre.unsqueeze(1))[:, :4],
        "plain": torch.ones(2, 4),
        "forced": torch.ones(2, 2),
    }
    flat, step = adapter.flat(), 1e-6
    generator = torch.Generator().manual_seed(0)
    for _ in range(4):
        direction = torch.randn(flat.shape, generator=generator, dtype=torch.float64)
        slopes = log_likelihood(flat + step * direction) - log_likelihood(flat - step * direction)
        chosen, replayed = (slopes / (2 * step)).split([4, 2], dim=1)
        for name, weight in weights.items():
            expected = (weight * (replayed if name == "forced" else chosen)).sum(1)
            gradient = (getattr(sums, name) * direction).sum(1)
            assert torch.allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def test_eta_sums_add_up_over_chunks():
    _, batch, inputs = prepared("pctsp", style="pomo")
    decoding = Decoding(adapter=random_adapter(2))
    whole, parts = EtaSums.zeros(2, WIDTH), EtaSums.zeros(2, WIDTH)
    seeds, starts = instance_seeds(8, 2), all_starts(batch)
    ENGINE.rollout(batch, inputs, decoding, Request(6, seeds, starts=starts, eta_sums=whole))
    for offset in (0, 3):
        chunk = starts[:, offset : offset + 3]
        request = Request(3, seeds, offset, starts=chunk, eta_sums=parts)
        ENGINE.rollout(batch, inputs, decoding, request)
    for name in ("by_cost", "plain", "forced"):
        assert torch.allclose(getattr(whole, name), getattr(parts, name))


@pytest.mark.parametrize("style", ["am", "pomo"])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_gradients_reach_every_weight_and_are_finite_differences(problem, style):
    _, batch = feasible_batch(problem, 6, 2)
    policy = made_policy(problem, style).double().requires_grad_()
    decoding = Decoding(temperature=0.9, bias=BIASES[1])
    starts = all_starts(batch)[:, :4] if style == "pomo" else None
    with torch.no_grad():
        request = Request(4, instance_seeds(9, 2), starts=starts)
        rollouts = ENGINE.rollout(batch, policy(batch), decoding, request)
    weights = torch.randn(2, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))

    def objective():
        inputs = policy(batch)
        return ENGINE.weighted_log_likelihood(batch, inputs, decoding, rollouts, weights)

    parameters = dict(policy.named_parameters())
    gradients = torch.autograd.grad(objective(), list(parameters.values()))
    generator = torch.Generator().manual_seed(2)
    step = 1e-6
    for (name, parameter), gradient in zip(parameters.items(), gradients, strict=True):
        direction = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        values = []
        with torch.no_grad():
            for sign in (1, -1):
                parameter += sign * step * direction
                values.append(float(objective()))
                parameter -= sign * step * direction
        slope = (values[0] - values[1]) / (2 * step)
        assert float((gradient * direction).sum()) == pytest.approx(slope, rel=1e-4, abs=1e-6), name


def test_gradients_reach_the_adapter():
    _, batch, inputs = prepared("op")
    flat = random_adapter(2).flat().requires_grad_()
    decoding = Decoding(adapter=Adapter.from_flat(flat))
    sums = EtaSums.zeros(2, WIDTH)
    request = Request(5, instance_seeds(1, 2), eta_sums=sums)
    rollouts = ENGINE.rollout(batch, inputs, decoding, request)
    weights = torch.ones(2, 5, dtype=torch.float64)
    total = ENGINE.weighted_log_likelihood(batch, inputs, decoding, rollouts, weights)
    (gradient,) = torch.autograd.grad(total, flat)
    assert torch.allclose(gradient, sums.plain)
