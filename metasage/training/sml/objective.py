"""J_SML = J_distil + beta J_zero, as a loss to be descended."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from metasage.adaptation.guidance import BiasSchedule, Geometric
from metasage.adaptation.sage import STRENGTHS
from metasage.adaptation.update import Update
from metasage.policies.policy import AttentionPolicy
from metasage.policies.sml import ScaleMetaLearner
from metasage.problems.batch import Batch
from metasage.rollout.interface import (
    DecoderInputs,
    Decoding,
    Engine,
    LocalityBias,
    Request,
    Rollouts,
)
from metasage.rollout.random import instance_seeds
from metasage.rollout.starts import likeliest_starts, reachable_starts
from metasage.training.data import random_starts
from metasage.training.losses import in_deviations
from metasage.training.sml.settings import SmlSettings

# Share of the guided tours that is imitated.
_ELITE = 0.2


def distil_loss(
    learner: ScaleMetaLearner, policy: AttentionPolicy, batch: Batch, moved: Tensor
) -> Tensor:
    """J_distil: mean distance to where the teacher takes the embeddings.

    Parameters
    ----------
    learner
        The meta-learner; theta, the policy, stays as it is.
    policy
        What encodes the instances.
    batch
        Instances of one size.
    moved
        How far the teacher moved their embeddings, shape (instances, nodes, width).
    """
    h = _embed(policy, batch)
    scaled: Tensor = learner(h, batch)
    distance: Tensor = (scaled - (h + moved)).flatten(1).norm(dim=1).mean()
    return distance


def zero_shot_loss(
    learner: ScaleMetaLearner,
    policy: AttentionPolicy,
    engine: Engine,
    batch: Batch,
    settings: SmlSettings,
    seed: int,
) -> tuple[Tensor, float]:
    """J_zero: SAGE's objective before any adaptation, weighted as the settings say.

    Parameters
    ----------
    learner
        The meta-learner; theta, the policy, stays as it is.
    policy, engine
        What constructs rollouts.
    batch
        Instances of one size.
    settings
        Weights of the terms, number and temperature of the samples.
    seed
        Seed of the rollouts.

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
        drawn = random_starts(batch.problem.name, size, rows, count, seed)
        starts = reachable_starts(batch, drawn.to(batch.device))
    request = Request(count, instance_seeds(seed, rows), starts=starts)
    h = _embed(policy, batch)
    inputs = policy.decoder(learner(h, batch))
    terms, cost = [], 0.0
    plain = Decoding(temperature=settings.temperature)
    of_sage = replace(plain, bias=_bias(STRENGTHS[batch.problem.name][0], size))
    for weight, decoding in ((settings.zero, plain), (settings.biased, of_sage)):
        if weight:
            rollouts = engine.rollout(batch, inputs, decoding, request)
            cost = cost or float(rollouts.cost.mean())
            weights = weight * _sampled_weights(rollouts, settings) / rows
            terms.append(engine.weighted_log_likelihood(batch, inputs, decoding, rollouts, weights))
    if settings.guided:
        # Tours of the network alone: those of a phi that imitates its own drift away.
        alone = policy.decoder(h)
        if starts is None:  # greedy tours that begin freely would all be the same
            request = replace(request, starts=likeliest_starts(batch, alone, count))
        best = _guided(engine, batch, alone, request, _bias(settings.guide, size))
        cost = cost or float(best.cost.mean())
        weights = torch.full_like(best.cost.float(), -settings.guided / best.cost.numel())
        terms.append(engine.weighted_log_likelihood(batch, inputs, Decoding(), best, weights))
    return torch.stack(terms).sum(), cost


def _embed(policy: AttentionPolicy, batch: Batch) -> Tensor:
    with torch.no_grad():
        return policy.embed(batch)


def _sampled_weights(rollouts: Rollouts, settings: SmlSettings) -> Tensor:
    """REINFORCE with a shared baseline plus lambda x imitation of the best sample."""
    # Of the rule of adaptation only the weights are needed, not its step size.
    rule = Update(1.0, settings.imitation, replay=False)
    cost = rollouts.cost.float()
    if settings.normalise_advantages:
        cost = in_deviations(cost)
    return rule.weights(cost, cost.shape[1])


def _bias(alpha: float, size: int) -> LocalityBias:
    """Return a bias whose strength grows with the square root of the size."""
    return BiasSchedule("outside", Geometric(alpha, alpha), by_density=True).at(0.0, size)


def _guided(
    engine: Engine, batch: Batch, inputs: DecoderInputs, request: Request, bias: LocalityBias
) -> Rollouts:
    """Return the best of the greedy tours under a locality bias."""
    tours = engine.rollout(batch, inputs, Decoding(greedy=True, bias=bias), request)
    count = max(1, round(_ELITE * request.rollouts))
    best = tours.cost.topk(count, dim=1, largest=False).indices
    steps = best.unsqueeze(-1).expand(-1, -1, tours.actions.shape[2])
    return Rollouts(
        tours.actions.gather(1, steps),
        tours.steps.gather(1, best),
        tours.log_likelihood.gather(1, best),
        tours.cost.gather(1, best),
        tours.first_scored,
    )
