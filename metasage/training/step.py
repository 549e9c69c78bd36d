"""One update of a policy."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from torch import Tensor

from metasage.errors import NotFinite
from metasage.policies.config import PolicyConfig
from metasage.policies.policy import AttentionPolicy
from metasage.policies.symmetry import rotate
from metasage.problems.batch import Batch
from metasage.rollout.interface import DecoderInputs, Decoding, Engine, Request
from metasage.rollout.random import instance_seeds
from metasage.rollout.starts import reachable_starts
from metasage.training.bank import Bank
from metasage.training.data import StepPlan, new_instances, random_starts
from metasage.training.forms import draw_forms, turned
from metasage.training.losses import advantage_weights, invariance_loss
from metasage.training.processes import Processes
from metasage.training.settings import TrainingSettings
from metasage.training.solved import Actions


@dataclass(frozen=True)
class StepReport:
    """What a step found, over all processes.

    Parameters
    ----------
    cost
        Mean cost of the rollouts, if any were sampled.
    best
        Mean over instances of their best rollout.
    norm
        Norm of the gradient, before it is clipped.
    imitation
        Mean negative log-likelihood of a decision of local search, if any were
        imitated.
    """

    cost: float | None
    best: float | None
    norm: float
    imitation: float | None = None

    @property
    def values(self) -> dict[str, float]:
        """The numbers that there are, by name."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def is_finite(self) -> bool:
        """Whether the step may be applied."""
        return all(abs(value) < float("inf") for value in self.values.values())


def compute_gradients(
    policy: AttentionPolicy,
    engine: Engine,
    settings: TrainingSettings,
    plan: StepPlan,
    processes: Processes,
    bank: Bank | None = None,
) -> StepReport:
    """Fill the gradients of the policy's parameters for a step.

    Every process works on its share of the instances; the result is that of
    one process with all of them.

    Parameters
    ----------
    policy, engine, settings
        What is trained, and how.
    plan
        The step.
    processes
        Who shares its instances.
    bank
        Where solved instances come from, if the stage imitates.
    """
    mine = processes.share(plan.count)
    device = next(policy.parameters()).device
    # Everything random is drawn for all instances, so that it does not depend on
    # how many processes share them.
    random = np.random.default_rng([plan.seed, 1])
    solutions = None
    if plan.stage.imitation:
        assert bank is not None
        instances, solutions = bank.take(plan, mine)
        batch = turned(policy.view(instances, device), random.integers(8, size=plan.count)[mine])
    else:
        instances = new_instances(plan)
        batch = policy.view([instances[i] for i in mine], device)
    copies = settings.copies if plan.stage.reinforce else 1
    if copies > 1:
        batch = rotate(batch, copies, torch.Generator().manual_seed(plan.seed))
    h = policy.embed(batch)
    scene = _Scene(policy, engine, plan, mine, copies, batch, policy.decoder(h))

    is_broken = False
    try:
        loss = h.new_zeros(())
        cost = imitated = None
        if plan.stage.reinforce:
            sampled, cost = _policy_gradient(scene, settings.normalise_advantages)
            if settings.invariance and policy.projection_head is not None and copies > 1:
                similarity = invariance_loss(policy.projection_head(h), copies)
                sampled = sampled + settings.invariance * similarity * (len(mine) / plan.count)
            loss = loss + plan.stage.reinforce * sampled
        if solutions is not None:
            likelihood, imitated = _imitation(scene, solutions, random)
            loss = loss + plan.stage.imitation * likelihood
        policy.zero_grad(set_to_none=False)
        loss.backward()  # type: ignore[no-untyped-call]
    except NotFinite:
        is_broken = True
    if processes.add(torch.tensor(float(is_broken))).item() > 0:
        return StepReport(None, None, math.nan)
    processes.add_gradients(policy)
    return _report(policy, cost, imitated, copies, plan.count, processes)


def training_decoding(config: PolicyConfig, nodes: int) -> Decoding:
    """Return how a policy decodes while it learns: by near nodes alone if it is made for that."""
    return Decoding(neighbours=config.nearest(nodes))


@dataclass(frozen=True, eq=False)
class _Scene:
    """What both losses look at: this process's instances, copy by copy."""

    policy: AttentionPolicy
    engine: Engine
    plan: StepPlan
    mine: list[int]
    copies: int
    batch: Batch
    inputs: DecoderInputs

    @property
    def decoding(self) -> Decoding:
        return training_decoding(self.policy.config, self.batch.num_nodes)

    @property
    def forced(self) -> bool:
        return self.policy.config.starts == "forced"

    def originals(self) -> tuple[Batch, DecoderInputs]:
        """Return the first copy of each instance."""
        if self.copies == 1:
            return self.batch, self.inputs
        count = len(self.mine)
        by_instance = {
            item.name: getattr(self.inputs, item.name)[:count]
            for item in fields(self.inputs)
            if item.name in _BY_INSTANCE and getattr(self.inputs, item.name) is not None
        }
        rows = torch.arange(count, device=self.batch.device)
        return self.batch.select(rows), replace(self.inputs, **by_instance)


_BY_INSTANCE = ("keys", "values", "pointers", "query_last", "query_first", "query_start")


def _policy_gradient(scene: _Scene, normalise: bool) -> tuple[Tensor, Tensor]:
    """Sample rollouts; return the loss, and their costs."""
    plan, batch, inputs = scene.plan, scene.batch, scene.inputs
    rows = torch.cat([torch.tensor(scene.mine) + c * plan.count for c in range(scene.copies)])
    total, rollouts = plan.count * scene.copies, plan.stage.rollouts
    starts = None
    if scene.forced:
        drawn = random_starts(plan.kind.problem, plan.kind.size, total, rollouts, plan.seed)
        starts = reachable_starts(batch, drawn[rows].to(batch.device))
    request = Request(rollouts, instance_seeds(plan.seed, total)[rows], starts=starts)
    found = scene.engine.rollout(batch, inputs, scene.decoding, request)
    weights = advantage_weights(found.cost.float(), scene.copies, normalise) / (total * rollouts)
    loss = scene.engine.weighted_log_likelihood(batch, inputs, scene.decoding, found, weights)
    return loss, found.cost


def _imitation(
    scene: _Scene, solutions: Actions, random: np.random.Generator
) -> tuple[Tensor, Tensor]:
    """Score forms of all solutions; return the loss, and its value in each form.

    Each form counts by the mean over its decisions, so that long solutions do
    not outweigh short ones.
    """
    stage, batch = scene.plan.stage, scene.batch
    forms, lengths = draw_forms(batch.problem, solutions, stage.forms, random)
    actions = torch.from_numpy(forms[scene.mine]).to(batch.device)
    decisions = torch.from_numpy(lengths[scene.mine]).to(batch.device) - int(scene.forced)
    scale = -1 / decisions.clamp(min=1).double()
    originals, inputs = scene.originals()
    loss, likelihood = scene.engine.given_log_likelihood(
        originals,
        inputs,
        scene.decoding,
        actions,
        (scale / (scene.plan.count * forms.shape[1])).float(),
        first_scored=not scene.forced,
    )
    return loss, scale * likelihood


def _report(
    policy: AttentionPolicy,
    cost: Tensor | None,
    imitated: Tensor | None,
    copies: int,
    instances: int,
    processes: Processes,
) -> StepReport:
    sums = torch.zeros(3, dtype=torch.float64)
    if cost is not None:
        best = cost.min(dim=1).values.view(copies, -1).min(dim=0).values
        sums[0], sums[1] = cost.mean(dim=1).sum() / copies, best.sum()
    if imitated is not None:
        sums[2] = imitated.mean(dim=1).sum()
    mean, best_mean, distance = (processes.add(sums) / instances).tolist()
    gradients = [p.grad for p in policy.parameters() if p.grad is not None]
    norm = float(torch.stack(torch._foreach_norm(gradients)).norm())
    return StepReport(
        None if cost is None else mean,
        None if cost is None else best_mean,
        norm,
        None if imitated is None else distance,
    )
