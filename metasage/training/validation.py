"""How good a policy is on instances that training never sees."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

import torch
from torch import Tensor

from metasage.policies.policy import AttentionPolicy
from metasage.policies.symmetry import augment
from metasage.problems.batch import Batch
from metasage.problems.sets import generate
from metasage.rollout.interface import DecoderInputs, Decoding, Engine, Request
from metasage.rollout.torch_engine import likeliest_starts

SEED = 4321


@torch.no_grad()
def validate(
    policy: AttentionPolicy, engine: Engine, size: int, count: int, copies: int = 1
) -> float:
    """Mean objective of greedy rollouts from all starts, best of each instance.

    Parameters
    ----------
    policy
        The policy, in evaluation mode.
    engine
        The engine.
    size, count
        Size and number of instances (uniform, of a seed of their own).
    copies
        Number of symmetric copies of each instance.
    """
    instances = list(generate(policy.config.problem, size, count, SEED))
    costs = []
    for first in range(0, count, 16):
        batch = policy.view(instances[first : first + 16], next(policy.parameters()).device)
        several = augment(batch, copies)
        inputs = policy(several)
        seeds = torch.zeros(several.num_instances, dtype=torch.long)
        request = Request(size, seeds, starts=_all_starts(policy, several, inputs, size))
        rollouts = engine.rollout(several, inputs, Decoding(greedy=True), request)
        costs.append(rollouts.cost.min(dim=1).values.view(copies, -1).min(dim=0).values)
    return abs(float(torch.cat(costs).mean()))


def _all_starts(policy: AttentionPolicy, batch: Batch, inputs: DecoderInputs, size: int) -> Tensor:
    if policy.config.starts == "free":
        return likeliest_starts(batch, inputs, size)
    first = int(policy.config.rules.has_depot)
    return torch.arange(first, first + size, device=batch.device).expand(batch.num_instances, -1)


@cache
def reference(problem: str, size: int, count: int) -> float | None:
    """Mean objective of a strong solver on the validation instances, if it is known."""
    known = json.loads((files("metasage.training") / "references.json").read_text())
    row = known["values"].get(f"{problem}-{size}")
    # A set of another count is another set.
    return None if row is None or len(row) != count else sum(row) / count


def gap(problem: str, size: int, count: int, objective: float) -> float | None:
    """Relative distance to the reference; positive is worse."""
    best = reference(problem, size, count)
    if best is None:
        return None
    return (best - objective) / best if problem == "op" else (objective - best) / best
