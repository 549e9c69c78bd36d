"""One update of a policy."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from metasage.policies.policy import AttentionPolicy
from metasage.policies.symmetry import rotate
from metasage.rollout.interface import Decoding, Engine, Request
from metasage.rollout.random import instance_seeds
from metasage.training.data import random_starts, step_seed, training_instances
from metasage.training.losses import advantage_weights, invariance_loss
from metasage.training.processes import Processes
from metasage.training.settings import TrainingSettings


@dataclass(frozen=True)
class StepReport:
    """What a step found, over all processes.

    Parameters
    ----------
    cost
        Mean cost of the rollouts.
    best
        Mean over instances of their best rollout.
    norm
        Norm of the gradient, before it is clipped.
    """

    cost: float
    best: float
    norm: float

    @property
    def is_finite(self) -> bool:
        """Whether the step may be applied."""
        return all(abs(value) < float("inf") for value in (self.cost, self.best, self.norm))


def compute_gradients(
    policy: AttentionPolicy,
    engine: Engine,
    settings: TrainingSettings,
    step: int,
    processes: Processes,
) -> StepReport:
    """Fill the gradients of the policy's parameters for a step.

    Every process works on its share of the instances; the result is that of
    one process with all of them.
    """
    stage, _ = settings.at(step)
    seed = step_seed(settings, step)
    instances = training_instances(settings, stage, seed)
    mine = processes.share(len(instances))
    device = next(policy.parameters()).device
    batch = policy.view([instances[i] for i in mine], device)
    if settings.copies > 1:
        batch = rotate(batch, settings.copies, torch.Generator().manual_seed(seed))
    # Streams and starts are drawn for all instances, so that they do not depend
    # on how many processes share them.
    rows = torch.cat([torch.tensor(mine) + c * len(instances) for c in range(settings.copies)])
    count = len(instances) * settings.copies
    seeds = instance_seeds(seed, count)[rows]
    starts = None
    if policy.config.starts == "forced":
        starts = random_starts(settings.problem, stage.size, count, stage.rollouts, seed)[rows]
        starts = starts.to(device)

    h = policy.embed(batch)
    inputs = policy.decoder(h)
    request = Request(stage.rollouts, seeds, starts=starts)
    rollouts = engine.rollout(batch, inputs, Decoding(), request)
    weights = advantage_weights(
        rollouts.cost.float(), settings.copies, settings.normalise_advantages
    )
    loss = engine.weighted_log_likelihood(
        batch, inputs, Decoding(), rollouts, weights / (count * stage.rollouts)
    )
    if settings.invariance and policy.projection_head is not None and settings.copies > 1:
        similarity = invariance_loss(policy.projection_head(h), settings.copies)
        loss = loss + settings.invariance * similarity * (len(mine) / len(instances))
    policy.zero_grad(set_to_none=False)
    loss.backward()  # type: ignore[no-untyped-call]
    return _report(policy, rollouts.cost, settings.copies, len(instances), processes)


def _report(
    policy: AttentionPolicy, cost: Tensor, copies: int, instances: int, processes: Processes
) -> StepReport:
    processes.add_gradients(policy)
    best = cost.min(dim=1).values.view(copies, -1).min(dim=0).values
    sums = processes.add(torch.stack([cost.mean(dim=1).sum() / copies, best.sum()]).double())
    gradients = [p.grad for p in policy.parameters() if p.grad is not None]
    norm = torch.stack(torch._foreach_norm(gradients)).norm()
    mean, best_mean = (sums / instances).tolist()
    return StepReport(mean, best_mean, float(norm))
