"""Adaptation of a residual layer on the query: EAS-Lay and SAGE.

The layer sits behind the attention, so nothing before it depends on eta, and
the engine delivers the gradient with the rollouts themselves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor

from metasage.adaptation.guidance import UNGUIDED, Guide, Guided
from metasage.adaptation.task import Task
from metasage.adaptation.update import Update
from metasage.problems import Solution
from metasage.rollout.interface import Adapter, EtaSums, Request, Rollouts


class QueryAdaptation(Guided):
    """Samples with the layer, then moves eta along the gradient.

    Parameters
    ----------
    task
        What is solved.
    update
        Settings of the update.
    guide
        Temperature and bias of the samples.
    place
        ``after`` the heads are combined, or ``before``, where the policy has no
        layer of its own.
    """

    def __init__(
        self,
        task: Task,
        update: Update,
        guide: Guide = UNGUIDED,
        place: Literal["after", "before"] = "after",
    ) -> None:
        self.task, self.update, self.guide = task, update, guide
        rows, width = task.batch.num_instances, task.inputs.width
        device = task.batch.device
        own = task.inputs.adapter
        # A layer that was trained with the policy is the one that adapts.
        self.place = place if own is None else own.place
        eta = initial_eta(rows, width, task.seed) if own is None else own.flat().expand(rows, -1)
        self.eta = eta.detach().clone().to(device)
        self.optimiser = update.optimiser(self.eta)
        self.sums = EtaSums.zeros(rows, width, device)
        self.centre = torch.zeros(rows, dtype=torch.float64, device=device)
        self.target: Tensor | None = None

    def rollout(self, iteration: int, progress: float) -> Rollouts:  # noqa: D102
        guided = self.guide.decoding(self.task, iteration, progress)
        self.used = replace(guided, adapter=Adapter.from_flat(self.eta, self.place))
        self.sums = EtaSums.zeros(len(self.eta), self.task.inputs.width, self.eta.device)
        request = Request(
            0,
            torch.zeros(0),
            forced=self.target,
            eta_sums=self.sums,
            centre=self.centre,
        )
        return self.task.rollout(self.used, iteration, request)

    def learn(self, rollouts: Rollouts, best: Solution | None) -> None:  # noqa: D102
        samples = self.task.rollouts
        cost = rollouts.cost[:, :samples]
        mean = cost.mean(dim=1)
        excess = (mean - self.centre).unsqueeze(1)
        gradient = (self.sums.by_cost - excess * self.sums.plain) / samples
        if self.update.replay:
            gradient = gradient - self.update.imitation * self.sums.forced
            self.target = self.task.replayed(best)
        else:
            sampled = rollouts.actions[torch.arange(len(cost)), cost.argmin(dim=1)]
            gradient = gradient - self.update.imitation * self.task.eta_gradient(
                self.used, sampled.unsqueeze(1)
            )
        self.optimiser.descend(gradient)
        # The next sums are centred on this mean, which keeps their terms small.
        self.centre = mean


def initial_eta(rows: int, width: int, seed: int) -> Tensor:
    """Draw the first matrix; the second is zero, so that the layer starts as the identity."""
    generator = torch.Generator().manual_seed(seed)
    bound = width**-0.5
    first = torch.empty(rows, width * width + width).uniform_(-bound, bound, generator=generator)
    return torch.cat([first, torch.zeros_like(first)], dim=1)
