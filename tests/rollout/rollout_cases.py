"""Small policies and batches for the tests of the engines, in float64 for exact comparisons."""

import torch

from metasage.policies.config import PolicyConfig
from metasage.policies.policy import AttentionPolicy
from metasage.problems import all_problems
from metasage.problems.batch import Batch
from metasage.problems.sets import generate
from metasage.rollout.interface import Adapter, LocalityBias
from metasage.rollout.torch_engine import TorchEngine

WIDTH = 8
ENGINE = TorchEngine()
PROBLEMS = list(all_problems())
BIASES = [None, LocalityBias("outside", 1.5), LocalityBias("inside", 0.6)]


def made_policy(problem, style="am", seed=0):
    """A small policy whose logits are far from uniform and from their bounds."""
    torch.manual_seed(seed)
    am = style == "am"
    config = PolicyConfig(
        problem,
        width=WIDTH,
        layers=1,
        heads=2,
        hidden=16,
        norm="batch" if am else "instance",
        projected_pointer=am,
        mean_query=am,
        combine_bias=not am,
        placeholder=am and problem == "tsp",
        starts="free" if am else "forced",
    )
    policy = AttentionPolicy(config).eval().requires_grad_(False)
    policy.decoder.combine.weight *= 4
    return policy


def feasible_batch(problem, size, count):
    """Instances that have a solution, in float64 for exact comparisons."""
    drawn = (generate(problem, size, 1, seed)[0] for seed in range(100))
    instances = [i for i in drawn if i.problem.infeasibility(i) is None][:count]
    batch = Batch.of(instances)
    return instances, batch.moved(batch.coords.double())


def prepared(problem, size=6, count=2, style="am"):
    instances, batch = feasible_batch(problem, size, count)
    policy = made_policy(problem, style).double()
    return instances, batch, policy(batch)


def random_adapter(instances, seed=1, place="after"):
    generator = torch.Generator().manual_seed(seed)
    shape = (instances, 2 * WIDTH * WIDTH + 2 * WIDTH)
    flat = 0.5 * torch.randn(shape, generator=generator, dtype=torch.float64)
    return Adapter.from_flat(flat, place)


def all_starts(batch):
    """Every node, or every customer, as a start."""
    first = int(batch.problem.has_depot)
    return torch.arange(first, batch.num_nodes).expand(batch.num_instances, -1)
