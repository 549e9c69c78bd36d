"""The decoder, the rules and the random stream in plain loops and float64.

Written with torch, so that autograd yields the gradients to compare with.
"""

from __future__ import annotations

import math

import numpy as np
import torch

PROBLEMS = ("tsp", "cvrp", "pctsp", "op")
TENSORS = (
    "keys",
    "values",
    "pointers",
    "query_last",
    "query_first",
    "query_scalar",
    "query_start",
    "combine_weight",
    "combine_bias",
    "glimpse_locality",
    "pointer_locality",
)


def make_case(problem, *, nodes=13, width=128, instances=2, seed=0, **changes):
    """Draw keyword arguments that both native functions take."""
    random = np.random.default_rng(seed)
    b, n, d = instances, nodes, width

    def normal(*shape, scale=1.0):
        return (random.normal(size=shape) * scale).astype(np.float32)

    case = {
        "problem": problem,
        "keys": normal(b, n, d),
        "values": normal(b, n, d),
        "pointers": normal(b, n, d),
        "query_last": normal(b, n, d),
        "query_first": normal(b, n, d) if problem == "tsp" else None,
        "query_scalar": normal(d) if problem != "tsp" else None,
        "query_start": normal(b, d) if problem == "tsp" else None,
        "combine_weight": normal(d, d, scale=2 / math.sqrt(d)),
        "combine_bias": normal(d),
        "heads": 8,
        "clip": 10.0,
        "glimpse_locality": None,
        "pointer_locality": None,
        "locality_inside": False,
        "unit": None,
        "skip": False,
        "adapter": None,
        "adapter_place": "after",
        "coords": random.uniform(size=(b, n, 2)).astype(np.float32),
        "fields": make_fields(problem, b, n, random),
        "bias_kind": 0,
        "bias_strength": 0.0,
        "temperature": 1.0,
        "neighbours": None,
        "threads": 2,
    }
    if problem == "op":
        places = case["coords"].astype(np.float64)
        lengths = np.linalg.norm(places[:, :, None] - places[:, None], axis=-1)
        case["fields"]["lengths"] = 3.0 * lengths
    if changes.pop("with_locality", False):
        case["glimpse_locality"] = normal(8, 2, scale=0.5)
        case["pointer_locality"] = normal(2, scale=0.3)
        case["unit"] = random.uniform(0.1, 0.3, size=b).astype(np.float32)
    if changes.pop("with_adapter", False):
        scale = 1 / math.sqrt(d)
        layers = 1 if changes.pop("shared_adapter", False) else b
        case["adapter"] = (
            normal(layers, d, d, scale=scale),
            normal(layers, d, scale=0.3),
            normal(layers, d, d, scale=scale),
            normal(layers, d, scale=0.3),
        )
    return case | changes


def make_fields(problem, b, n, random):
    if problem == "cvrp":
        demand = random.integers(1, 10, size=(b, n))
        demand[:, 0] = 0
        return {"demand": demand.astype(np.float32), "capacity": np.full(b, 20, np.float32)}
    if problem == "pctsp":
        prize = random.uniform(size=(b, n)) * 4 / n
        penalty = random.uniform(size=(b, n)) * 0.3
        prize[:, 0] = penalty[:, 0] = 0.0
        return {"prize": prize, "penalty": penalty}
    if problem == "op":
        prize = random.uniform(size=(b, n))
        prize[:, 0] = 0.0
        return {"prize": prize, "max_length": np.full(b, 6.0), "scale": np.full(b, 3.0)}
    return {}


def rollout_arguments(case, rollouts, **changes):
    instances = len(case["keys"])
    return case | {
        "greedy": False,
        "seeds": np.arange(instances, dtype=np.uint64) * 977 + 5,
        "rollouts": rollouts,
        "rollout_offset": 0,
        "starts": None,
        "forced": None,
        "forced_first_scored": False,
        "eta_sums": None,
        "centre": None,
        "seconds_left": None,
        **changes,
    }


class Walk:
    """State of one rollout, by the rules of its problem."""

    def __init__(self, case, b):
        self.problem, self.b, self.case = case["problem"], b, case
        self.fields = {name: field[b] for name, field in case["fields"].items()}
        self.n = case["coords"].shape[1]
        self.path = [] if self.problem == "tsp" else [0]
        self.done = False
        self.load = self.fields.get("capacity")
        self.collected = self.length = 0.0

    @property
    def current(self):
        return self.path[-1] if self.path else None

    @property
    def customers_left(self):
        first = 0 if self.problem == "tsp" else 1
        return [node for node in range(first, self.n) if node not in self.path]

    def allowed(self):
        left = self.customers_left
        if self.problem == "tsp":
            return left
        if self.problem == "cvrp":
            depot = self.current != 0
            left = [node for node in left if self.fields["demand"][node] <= self.load]
        elif self.problem == "pctsp":
            depot = self.collected >= 1 - 1e-9 or not left
        else:
            depot = True
            lengths, most = self.fields["lengths"], self.fields["max_length"] * (1 + 1e-9)
            left = [
                node
                for node in left
                if self.length + lengths[self.current][node] + lengths[0][node] <= most
            ]
        return [0, *left] if depot else left

    def candidates(self, given=None):
        """Allowed nodes that a step looks at; a given one always is."""
        allowed, count = self.allowed(), self.case["neighbours"]
        if count is None or self.current is None:
            return allowed
        places = self.case["coords"][self.b].astype(np.float64)
        squares = np.square(places - places[self.current]).sum(-1).astype(np.float32)
        depot = [] if self.problem == "tsp" else [0]
        nearest = sorted(set(allowed) - set(depot), key=lambda node: (squares[node], node))[:count]
        return [node for node in allowed if node in (*depot, *nearest, given)]

    def scalar(self):
        if self.problem == "cvrp":
            return self.load / self.fields["capacity"]
        if self.problem == "pctsp":
            return max(0.0, 1 - self.collected)
        if self.problem == "op":
            return (self.fields["max_length"] - self.length) / self.fields["scale"]
        return 0.0

    def step(self, node):
        if self.problem == "cvrp":
            capacity = self.fields["capacity"]
            self.load = capacity if node == 0 else self.load - self.fields["demand"][node]
        if self.problem == "pctsp":
            self.collected += self.fields["prize"][node]
        if self.problem == "op":
            self.length += self.fields["lengths"][self.current][node]
        self.path.append(int(node))
        ends = not self.customers_left if self.problem in ("tsp", "cvrp") else node == 0
        self.done = bool(ends)

    def cost(self):
        visited = set(self.path) - {0}
        if self.problem == "op":
            return -sum(self.fields["prize"][node] for node in visited)
        places = self.case["coords"][self.b].astype(np.float64)[self.path]
        length = float(np.linalg.norm(places - np.roll(places, -1, axis=0), axis=1).sum())
        if self.problem == "pctsp":
            skipped = set(range(1, self.n)) - visited
            length += sum(self.fields["penalty"][node] for node in skipped)
        return length


def tensors_of(case, requires_grad=False):
    """Network outputs as float64 tensors, adapter included."""
    arrays = {name: case[name] for name in TENSORS if case[name] is not None}
    if case["adapter"] is not None:
        arrays |= dict(zip(("w1", "b1", "w2", "b2"), case["adapter"], strict=True))
    return {
        name: torch.tensor(array, dtype=torch.float64, requires_grad=requires_grad)
        for name, array in arrays.items()
    }


def of_instance(tensors, b):
    """Take the part of one instance."""
    shared = ("query_scalar", "combine_weight", "combine_bias")
    shared += ("glimpse_locality", "pointer_locality")
    return {name: t if name in shared else t[b if len(t) > 1 else 0] for name, t in tensors.items()}


def preference(case, walk, nodes, strengths):
    """What the distance of each node takes off its score: nothing from the depot or to it."""
    depot = None if case["problem"] == "tsp" else 0
    if walk.current in (None, depot):
        return torch.zeros(len(nodes), dtype=torch.float64)
    places = torch.tensor(case["coords"][walk.b], dtype=torch.float64)
    distance = (places[nodes] - places[walk.current]).norm(dim=-1) / float(case["unit"][walk.b])
    distance = distance * torch.tensor([node != depot for node in nodes])
    return strengths[0] * distance + strengths[1] * torch.log2(1 + distance)


def log_probabilities(case, tensors, walk, given=None):
    """Candidates and their log-probabilities; tensors are those of the instance."""
    d, heads = case["keys"].shape[2], case["heads"]
    nodes = walk.candidates(given)
    if walk.current is None:
        query = tensors["query_start"]
    else:
        query = tensors["query_last"][walk.current]
        if "query_first" in tensors:
            query = query + tensors["query_first"][walk.path[0]]
        if "query_scalar" in tensors:
            query = query + walk.scalar() * tensors["query_scalar"]

    def adapted(x):
        if "w1" not in tensors:
            return x
        hidden = torch.relu(x @ tensors["w1"] + tensors["b1"])
        return x + hidden @ tensors["w2"] + tensors["b2"]

    size = d // heads
    keys, values = tensors["keys"][nodes], tensors["values"][nodes]
    glimpse = []
    for h in range(heads):
        part = slice(h * size, (h + 1) * size)
        scores = keys[:, part] @ query[part] / math.sqrt(size)
        if "glimpse_locality" in tensors:
            scores = scores - preference(case, walk, nodes, tensors["glimpse_locality"][h])
        glimpse.append(torch.softmax(scores, 0) @ values[:, part])
    z = torch.cat(glimpse)
    if case["adapter_place"] == "before":
        z = adapted(z)
    final = tensors["combine_weight"] @ z
    if "combine_bias" in tensors:
        final = final + tensors["combine_bias"]
    if case["skip"]:
        final = final + query
    if case["adapter_place"] == "after":
        final = adapted(final)
    scores = tensors["pointers"][nodes] @ final / math.sqrt(d)

    own = torch.zeros(len(nodes), dtype=torch.float64)
    if "pointer_locality" in tensors:
        own = preference(case, walk, nodes, tensors["pointer_locality"])
    if case["locality_inside"]:
        scores, own = scores - own, 0.0
    bias = torch.zeros(len(nodes), dtype=torch.float64)
    if case["bias_kind"] and walk.current is not None:
        places = torch.tensor(case["coords"][walk.b], dtype=torch.float64)
        distance = (places[nodes] - places[walk.current]).norm(dim=-1)
        bias = {1: case["bias_strength"] * distance, 2: distance ** case["bias_strength"]}[
            case["bias_kind"]
        ]
    if case["bias_kind"] == 2:
        logits = case["clip"] * torch.tanh(scores - bias) - own
    else:
        logits = case["clip"] * torch.tanh(scores) - bias - own
    return nodes, torch.log_softmax(logits / case["temperature"], 0)


def log_likelihood(case, tensors, b, actions, first_scored):
    """Sum of log-probabilities of a rollout's steps, and the walk at its end."""
    tensors = of_instance(tensors, b)
    walk, total = Walk(case, b), torch.zeros((), dtype=torch.float64)
    for t, node in enumerate(actions):
        if t > 0 or first_scored:
            nodes, logs = log_probabilities(case, tensors, walk, node)
            total = total + logs[nodes.index(int(node))]
        walk.step(node)
    return total, walk


def drawn_number(seed, rollout, step):
    """Return the random number of a step, as a fraction of 2^24."""
    mask = (1 << 64) - 1

    def mix(z):
        z = (z + 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    return (mix((int(seed) + mix((rollout << 32) | step)) & mask) >> 40) * 2.0**-24
