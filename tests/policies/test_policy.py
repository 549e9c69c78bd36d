"""Encoder and decoder against torch's own layers and against numbers worked out by hand."""

import math

import pytest
import torch
from torch import nn

from metasage.policies.config import PolicyConfig
from metasage.policies.encoder import BatchNorm, Encoder, InstanceNorm
from metasage.policies.policy import AttentionPolicy
from metasage.problems.batch import Batch
from metasage.problems.cvrp import Cvrp
from metasage.problems.tsp import Tsp
from metasage.rollout.interface import Decoding, Request
from metasage.rollout.torch_engine import TorchEngine


def test_instance_norm_is_torchs():
    torch.manual_seed(0)
    h = torch.randn(3, 7, 5)
    ours, theirs = InstanceNorm(5), nn.InstanceNorm1d(5, affine=True)
    for norm in (ours, theirs):
        norm.weight.data = torch.linspace(0.5, 2, 5)
        norm.bias.data = torch.linspace(-1, 1, 5)
    assert torch.allclose(ours(h), theirs(h.transpose(1, 2)).transpose(1, 2), atol=1e-6)


def test_batch_norm_is_torchs_with_running_statistics():
    torch.manual_seed(0)
    h = torch.randn(3, 7, 5)
    ours, theirs = BatchNorm(5), nn.BatchNorm1d(5)
    for norm in (ours, theirs):
        norm.weight.data = torch.linspace(0.5, 2, 5)
        norm.running_mean.copy_(torch.linspace(-1, 1, 5))
        norm.running_var.copy_(torch.linspace(0.3, 3, 5))
        norm.eval()
    found = ours(h)
    assert torch.allclose(found, theirs(h.transpose(1, 2)).transpose(1, 2), atol=1e-6)
    # An instance's embeddings do not depend on its company.
    assert torch.allclose(found[:1], ours(h[:1]), atol=1e-6)


@pytest.mark.parametrize("bias", [True, False])
def test_an_encoder_layer_is_made_of_torchs_parts(bias):
    torch.manual_seed(1)
    config = PolicyConfig("tsp", width=16, layers=1, heads=4, hidden=24, attention_bias=bias)
    ours = Encoder(config).layers[0]
    attention = nn.MultiheadAttention(16, 4, bias=True, batch_first=True)
    weights = ours.query_key_value
    attention.in_proj_weight.data = weights.weight.data
    attention.in_proj_bias.data = weights.bias.data if bias else torch.zeros(48)
    attention.out_proj.load_state_dict(ours.combine.state_dict())
    norm = nn.InstanceNorm1d(16, affine=True)
    h = torch.randn(2, 9, 16)

    def normalise(x):
        return norm(x.transpose(1, 2)).transpose(1, 2)

    expected = normalise(h + attention(h, h, h, need_weights=False)[0])
    expected = normalise(expected + ours.output(ours.hidden(expected).relu()))
    batch = Batch.of([Tsp(coords=torch.rand(9, 2).numpy())] * 2)
    assert torch.allclose(ours(h, batch), expected, atol=1e-5)


def set_weights(policy, **weights):
    for name, value in weights.items():
        tensor = policy.decoder.get_parameter(name.replace("__", "."))
        tensor.data = torch.tensor(value, dtype=torch.float32)


def test_two_nodes_by_hand():
    """AM's first TSP step: placeholder and mean make the query, both nodes are free."""
    config = PolicyConfig(
        "tsp",
        width=2,
        layers=1,
        heads=1,
        hidden=2,
        combine_bias=False,
        projected_pointer=True,
        mean_query=True,
        placeholder=True,
        starts="free",
    )
    policy = AttentionPolicy(config).requires_grad_(False)
    set_weights(
        policy,
        query_first__weight=[[1.0, 0.0], [0.0, 2.0]],
        query_last__weight=[[0.0, 1.0], [1.0, 0.0]],
        query_mean__weight=[[2.0, 0.0], [0.0, 0.0]],
        placeholder=[[0.5, 0.25], [-1.0, 1.0]],
        key__weight=[[1.0, 0.0], [0.0, 1.0]],
        value__weight=[[0.0, 1.0], [1.0, 0.0]],
        pointer__weight=[[1.0, 0.0], [0.0, 0.5]],
        combine__weight=[[1.0, 0.0], [1.0, 1.0]],
    )
    h = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    inputs = policy.decoder(h)
    # First: (0.5, 0.5); last: (1, -1); mean (0.5, 0.5): (1, 0). In sum (2.5, -0.5).
    assert torch.allclose(inputs.query_start, torch.tensor([[2.5, -0.5]]))
    # At a node: last + mean, and first by itself.
    assert torch.allclose(inputs.query_last, torch.tensor([[[1.0, 1.0], [2.0, 0.0]]]))
    assert torch.allclose(inputs.query_first, torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]))
    # Glimpse: weights of the scores 2.5 and -0.5 over sqrt(2), on values (0, 1) and (1, 0).
    share = 1 / (1 + math.exp(-3 / math.sqrt(2)))
    glimpse = (1 - share, share)
    query = (glimpse[0], glimpse[0] + glimpse[1])
    logits = [10 * math.tanh(score / math.sqrt(2)) for score in (query[0], 0.5 * query[1])]
    total = sum(map(math.exp, logits))
    batch = Batch.of([Tsp(coords=[[0.0, 0.0], [1.0, 1.0]])])
    both = torch.tensor([[[0, 1], [1, 0]]])
    request = Request(0, torch.zeros(1, dtype=torch.long), forced=both)
    found = TorchEngine().rollout(batch, inputs, Decoding(), request)
    assert found.log_likelihood[0].tolist() == pytest.approx(
        [logit - math.log(total) for logit in logits], abs=1e-5
    )


def test_a_depot_and_two_customers_by_hand():
    """CVRP: the load's share enters the query; pointer keys are the embeddings."""
    policy = AttentionPolicy(PolicyConfig("cvrp", width=2, layers=1, heads=2, hidden=2))
    policy.requires_grad_(False)
    set_weights(
        policy,
        query_last__weight=[[1.0, 0.0], [0.0, 1.0]],
        query_scalar=[0.5, -2.0],
        key__weight=[[1.0, 0.0], [0.0, 1.0]],
        value__weight=[[1.0, 0.0], [0.0, 1.0]],
        combine__weight=[[1.0, 0.0], [0.0, 1.0]],
        combine__bias=[0.1, -0.2],
    )
    h = torch.tensor([[[0.3, -0.1], [1.0, 0.2], [-0.4, 0.9]]])
    batch = Batch.of([Cvrp(coords=[[0, 0], [0, 1], [1, 0]], demand=[0, 1, 2], capacity=4.0)])
    request = Request(
        0,
        torch.zeros(1, dtype=torch.long),
        starts=torch.zeros(1, 0, dtype=torch.long),
        forced=torch.tensor([[[1, 2, 0], [1, 0, 2]]]),
    )
    found = TorchEngine().rollout(batch, policy.decoder(h), Decoding(), request)
    # At customer 1, three quarters are left: query (1 + 0.375, 0.2 - 1.5). Free are 0 and 2;
    # each of the two heads sees one dimension.
    query = (1.375, -1.3)
    glimpse = []
    for i in (0, 1):
        depot, other = float(h[0, 0, i]), float(h[0, 2, i])
        share = 1 / (1 + math.exp(query[i] * (other - depot)))
        glimpse.append(share * depot + (1 - share) * other)
    pointed = (glimpse[0] + 0.1, glimpse[1] - 0.2)
    logits = [
        10 * math.tanh((pointed[0] * float(x) + pointed[1] * float(y)) / math.sqrt(2))
        for x, y in (h[0, 2], h[0, 0])
    ]
    total = sum(map(math.exp, logits))
    expected = [logit - math.log(total) for logit in logits]
    # With both visited the second way ends there; the first is done, too.
    assert found.log_likelihood[0].tolist() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("norm", ["instance", "batch"])
def test_embeddings_do_not_depend_on_company_or_order(norm):
    torch.manual_seed(2)
    policy = AttentionPolicy(
        PolicyConfig("tsp", width=16, layers=2, heads=4, hidden=24, norm=norm)
    ).eval()
    coords = torch.rand(4, 9, 2)
    problem = policy.config.rules
    whole = policy.embed(Batch(problem, coords))
    assert torch.allclose(whole[2:3], policy.embed(Batch(problem, coords[2:3])), atol=1e-5)
    order = torch.randperm(9)
    assert torch.allclose(
        whole[:, order], policy.embed(Batch(problem, coords[:, order])), atol=1e-5
    )
