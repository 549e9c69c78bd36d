"""J_SML = J_distil + beta J_zero, as a loss to be descended."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from metasage.adaptation.objective import Objective
from metasage.policies.policy import AttentionPolicy
from metasage.policies.sml import ScaleMetaLearner
from metasage.problems.batch import Batch
from metasage.rollout.interface import Decoding, Engine, Request
from metasage.rollout.random import instance_seeds
from metasage.training.data import random_starts
from metasage.training.losses import in_deviations
from metasage.training.sml.settings import SmlSettings


@dataclass(frozen=True)
class SmlLoss:
    """The loss on instances of one size, and what it is made of.

    Parameters
    ----------
    total
        What is descended, with a graph down to phi.
    distance
        Mean distance to the embeddings of the teacher.
    cost
        Mean cost of the rollouts.
    """

    total: Tensor
    distance: float
    cost: float


def sml_loss(
    learner: ScaleMetaLearner,
    policy: AttentionPolicy,
    engine: Engine,
    batch: Batch,
    moved: Tensor,
    settings: SmlSettings,
    seed: int,
) -> SmlLoss:
    """Evaluate both objectives on instances of one size.

    Parameters
    ----------
    learner
        The meta-learner; theta, the policy, stays as it is.
    policy, engine
        What constructs rollouts.
    batch
        The instances.
    moved
        How far the teacher moved their embeddings, shape (instances, nodes, width).
    settings
        Weights of the objectives.
    seed
        Seed of the rollouts.
    """
    with torch.no_grad():
        h = policy.embed(batch)
    scaled = learner(h, batch)
    distance = (scaled - (h + moved)).flatten(1).norm(dim=1).mean()
    total = settings.distil * distance
    cost = float("nan")
    if settings.zero:
        simulated, cost = zero_shot_loss(scaled, policy, engine, batch, settings, seed)
        total = total + settings.zero * simulated
    return SmlLoss(total, float(distance.detach()), cost)


def zero_shot_loss(
    scaled: Tensor,
    policy: AttentionPolicy,
    engine: Engine,
    batch: Batch,
    settings: SmlSettings,
    seed: int,
) -> tuple[Tensor, float]:
    """SAGE's objective before any adaptation: REINFORCE plus lambda x imitation.

    Returns
    -------
    tuple of Tensor and float
        The loss, a mean over instances, and the mean cost of the rollouts.
    """
    rows = batch.num_instances
    size = batch.num_nodes - int(batch.problem.has_depot)
    count = settings.rollouts or size
    starts = None
    if policy.config.starts == "forced":
        starts = random_starts(batch.problem.name, size, rows, count, seed).to(batch.device)
    inputs = policy.decoder(scaled)
    request = Request(count, instance_seeds(seed, rows), starts=starts)
    rollouts = engine.rollout(batch, inputs, Decoding(), request)
    # Of the rule of adaptation only the weights are needed, not its step size.
    rule = Objective(1.0, settings.imitation, replay=False)
    cost = rollouts.cost.float()
    if settings.normalise_advantages:
        cost = in_deviations(cost)
    weights = rule.weights(cost, count) / rows
    loss = engine.weighted_log_likelihood(batch, inputs, Decoding(), rollouts, weights)
    return loss, float(rollouts.cost.mean())
