"""An independent forward pass: float64, one instance, plain Python for the rules.

The tests of each layout build its tensors and read them by the layout's own
names; what all layouts have in common is here. Nothing of metasage is used but
the instances' data.
"""

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.nn import functional

from metasage.rollout.interface import Decoding, Request
from metasage.rollout.torch_engine import TorchEngine


def random_tensors(shapes, seed=0):
    """Weights of a plausible size for each name; statistics that a norm can use."""
    generator = torch.Generator().manual_seed(seed)
    state = {}
    for name, shape in shapes.items():
        noise = torch.randn(shape, generator=generator)
        if name.endswith("num_batches_tracked"):
            state[name] = torch.tensor(7)
        elif name.endswith("running_var"):
            state[name] = 0.5 + noise.abs()
        elif "norm" in name.lower() and name.endswith("weight"):
            state[name] = 1 + 0.2 * noise
        else:
            state[name] = noise * (0.7 * max(shape) ** -0.5 if len(shape) > 1 else 0.2)
    return state


def double(state):
    return {name: tensor.double() for name, tensor in state.items()}


def node_features(instance):
    """Coordinates, then what the problem adds, as the networks were trained."""
    columns = {
        "tsp": lambda i: [],
        "cvrp": lambda i: [i.demand / i.capacity],
        "pctsp": lambda i: [i.prize, i.penalty],
        "op": lambda i: [i.prize / i.prize.max()],
    }[instance.problem.name](instance)
    # The networks see float32, whatever the precision of their weights.
    return torch.tensor(np.column_stack([instance.coords, *columns])).float().double()


def attention(query, key, value, heads, mask=None):
    """Multi-head attention of rows; heads are joined but not combined."""
    width = query.shape[-1] // heads
    joined = []
    for head in range(heads):
        part = slice(head * width, (head + 1) * width)
        scores = query[:, part] @ key[:, part].T / math.sqrt(width)
        if mask is not None:
            scores = scores.masked_fill(mask, -math.inf)
        joined.append(scores.softmax(-1) @ value[:, part])
    return torch.cat(joined, dim=-1)


def normalise(state, name, x):
    """Instance norm over the nodes, or batch norm if there are running statistics."""
    weight, bias = state[f"{name}.weight"], state[f"{name}.bias"]
    if f"{name}.running_mean" in state:
        mean, variance = state[f"{name}.running_mean"], state[f"{name}.running_var"]
        return functional.batch_norm(x, mean, variance, weight, bias)
    return functional.instance_norm(x.T[None], weight=weight, bias=bias)[0].T


def calibrated(state, parts_of):
    """Give batch norms the statistics that training on one instance would have left.

    Without them embeddings shrink or explode, and every logit is at its bound.
    """

    def record(found, name, x):
        if f"{name}.running_mean" in found:
            found[f"{name}.running_mean"].copy_(x.mean(0) + 0.1)
            found[f"{name}.running_var"].copy_(x.var(0) * 1.2)
        return normalise(found, name, x)

    found = double(state)
    parts_of(SimpleNamespace(**(TOOLS | {"normalise": record})), found)
    return {name: tensor.to(state[name].dtype) for name, tensor in found.items()}


def situation(instance, actions, fractional):
    """Current node, forbidden nodes and the number fed, after some steps.

    With ``fractional`` loads are float32 shares of the capacity, as Kool's code
    adds them up.
    """
    name, nodes = instance.problem.name, range(instance.num_nodes)
    last = actions[-1] if actions else 0

    def distance(a, b):
        return math.dist(instance.coords[a], instance.coords[b])

    if name == "tsp":
        return last, [j in actions for j in nodes], 0.0
    if name == "cvrp":
        demand, capacity = instance.demand, instance.capacity
        if fractional:
            demand, capacity = demand.astype(np.float32) / np.float32(capacity), np.float32(1)
        load = demand[0]
        for node in actions:
            load = demand[0] if node == 0 else load + demand[node]
        forbidden = [j in actions or load + demand[j] > capacity for j in nodes]
        forbidden[0] = last == 0
        return last, forbidden, 1 - float(load) / float(capacity)
    if name == "pctsp":
        collected = sum(instance.prize[node] for node in actions)
        forbidden = [j in actions for j in nodes]
        forbidden[0] = collected < 1 and not all(forbidden[1:])
        return last, forbidden, max(0.0, 1 - collected)
    way = [0, *actions]
    length = sum(distance(a, b) for a, b in pairwise(way))
    forbidden = [
        j in actions or length + distance(last, j) + distance(j, 0) > instance.max_length
        for j in nodes
    ]
    forbidden[0] = False
    return last, forbidden, instance.max_length - length


def step_log_probabilities(instance, parts, actions, fractional):
    """Log-probabilities of all nodes before each step of a rollout.

    ``parts`` holds keys, values, pointers, the function ``combine`` and the
    function ``query(first, last, number)``, where first is None before any step.
    """
    rows = []
    for step in range(len(actions)):
        last, forbidden, number = situation(instance, actions[:step], fractional)
        mask = torch.tensor(forbidden)
        first = actions[0] if step else None
        query = parts.query(first, last, number)[None]
        glimpse = attention(query, parts.keys, parts.values, parts.heads, mask)
        scores = parts.combine(glimpse) @ parts.pointers.T / math.sqrt(query.shape[-1])
        logits = (10 * scores.tanh()).masked_fill(mask, -math.inf)
        rows.append(logits[0].log_softmax(-1))
    return rows


def check_policy(policy, instances, parts_of, starts, fractional=False):
    """Compare greedy and sampled rollouts of a policy with the independent pass.

    Both are in float64, so that a difference is one of the weights or formulas.
    """
    batch = policy.view(instances)
    batch = batch.moved(batch.coords.double())
    given = None
    if starts == "forced":
        offset = int(batch.problem.has_depot)
        given = torch.arange(3).expand(len(instances), -1) + offset
    first = 0 if given is None else 1
    request = Request(3, torch.arange(len(instances)), starts=given)
    inputs = policy.double()(batch)
    spreads = []
    for greedy in (True, False):
        found = TorchEngine().rollout(batch, inputs, Decoding(greedy=greedy), request)
        for row, instance in enumerate(instances):
            parts = parts_of(instance)
            for rollout in range(3):
                actions = found.actions[row, rollout, : found.steps[row, rollout]].tolist()
                rows = step_log_probabilities(instance, parts, actions, fractional)
                scored = list(zip(rows, actions, strict=True))[first:]
                expected = sum(float(log_p[node]) for log_p, node in scored)
                log_likelihood = float(found.log_likelihood[row, rollout])
                assert log_likelihood == pytest.approx(expected, abs=1e-5)
                spreads += [float(log_p.max() - log_p[log_p.isfinite()].min()) for log_p in rows]
                if greedy:
                    assert all(float(log_p.max() - log_p[node]) < 1e-6 for log_p, node in scored)
    assert sum(0.1 < spread < 19.9 for spread in spreads) > 5, "the logits are at their bounds"


TOOLS = {
    "attention": attention,
    "calibrated": calibrated,
    "check_policy": check_policy,
    "double": double,
    "node_features": node_features,
    "normalise": normalise,
    "random_tensors": random_tensors,
}


@pytest.fixture
def reference():
    return SimpleNamespace(**TOOLS)
