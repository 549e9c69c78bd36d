"""Attention of nodes to each other, against torch and across threads."""

import numpy as np
import pytest
import torch

from metasage import _native
from metasage.policies.attention import self_attention
from metasage.problems.batch import Batch
from metasage.problems.sets import generate


def make_case(problem, width=128, nodes=45, instances=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    size = nodes - (problem != "tsp")
    batch = Batch.of(list(generate(problem, size, instances, seed=seed)))
    rows = torch.randn(instances, nodes, 3 * width, generator=generator)
    strengths = 0.3 * torch.randn(8, 2, generator=generator)
    return batch, rows, strengths


def arguments_of(batch, rows, strengths, threads=1):
    return {
        "query_key_value": rows.numpy(),
        "strengths": None if strengths is None else strengths.numpy(),
        "coords": batch.coords.numpy(),
        "unit": batch.unit.numpy(),
        "has_depot": batch.problem.has_depot,
        "threads": threads,
    }


def in_double(batch, rows, strengths):
    """The same by torch, in float64, with gradients."""
    exact = batch.moved(batch.coords.double())
    return [t.double().requires_grad_() for t in (rows, strengths)], exact


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("width", [64, 128])
@pytest.mark.parametrize(("nodes", "instances"), [(5, 2), (45, 3), (33, 9)])
def test_values_and_gradients_are_those_of_torch(problem, width, nodes, instances, simd):
    batch, rows, strengths = make_case(problem, width, nodes, instances)
    tracked, exact = in_double(batch, rows, strengths)
    wanted = self_attention(tracked[0], 8, exact, tracked[1])
    gradient = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(1))
    wanted.backward(gradient.double())
    found = _native.attention_forward(**arguments_of(batch, rows, strengths))
    np.testing.assert_allclose(found, wanted.detach(), atol=2e-5)
    back = _native.attention_backward(
        **arguments_of(batch, rows, strengths), gradient=gradient.numpy()
    )
    for ours, theirs in zip(back, tracked, strict=True):
        exact_gradient = theirs.grad.numpy()
        tolerance = 2e-5 * np.abs(exact_gradient).max()
        np.testing.assert_allclose(ours, exact_gradient, atol=tolerance)


@pytest.mark.parametrize("instances", [3, 9])
def test_threads_change_no_bit(instances):
    batch, rows, strengths = make_case("cvrp", nodes=150, instances=instances)
    gradient = np.random.default_rng(1).normal(size=(instances, 150, 128)).astype(np.float32)
    one, two = (
        [
            _native.attention_forward(**arguments_of(batch, rows, strengths, threads)),
            *_native.attention_backward(
                **arguments_of(batch, rows, strengths, threads), gradient=gradient
            ),
        ]
        for threads in (1, 2)
    )
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)


def test_without_strengths_it_is_plain_attention():
    batch, rows, _ = make_case("tsp")
    wanted = self_attention(rows, 8, batch, None)
    found = _native.attention_forward(**arguments_of(batch, rows, None))
    np.testing.assert_allclose(found, wanted, atol=2e-5)


def test_a_wrong_width_is_refused():
    batch, rows, strengths = make_case("tsp")
    with pytest.raises(ValueError, match="three times 64 or 128"):
        _native.attention_forward(**arguments_of(batch, rows[..., :30].contiguous(), strengths))
