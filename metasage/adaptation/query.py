"""Adaptation of a residual layer on the query: EAS-Lay and SAGE.

The layer sits behind the attention, so nothing before it depends on eta, and
the engine delivers the gradient with the rollouts themselves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor

from metasage.adaptation.method import Strategy
from metasage.adaptation.objective import Objective
from metasage.adaptation.optimiser import Adam
from metasage.adaptation.result import Incumbent
from metasage.adaptation.task import Task
from metasage.rollout.interface import Adapter, Decoding, EtaSums, LocalityBias, Request, Rollouts


class QueryAdaptation(Strategy):
    """Samples with the layer, then moves eta along the gradient.

    Parameters
    ----------
    task
        What is solved.
    objective
        Settings of the update.
    place
        ``after`` the heads are combined, or ``before``, where the policy has no
        layer of its own.
    """

    def __init__(
        self, task: Task, objective: Objective, place: Literal["after", "before"] = "after"
    ) -> None:
        self.task, self.objective = task, objective
        rows, width = task.batch.num_instances, task.inputs.width
        device = task.batch.device
        own = task.inputs.adapter
        # A layer that was trained with the policy is the one that adapts.
        self.place = place if own is None else own.place
        eta = initial_eta(rows, width, task.seed) if own is None else own.flat().expand(rows, -1)
        self.eta = eta.detach().clone().to(device)
        self.optimiser = Adam(self.eta, objective.learning_rate, objective.weight_decay)
        self.sums = EtaSums.zeros(rows, width, device)
        self.centre = torch.zeros(rows, dtype=torch.float64, device=device)
        self.target: Tensor | None = None

    def decoding(self, iteration: int, progress: float) -> Decoding:
        """Say how choices are made; methods with schedules override it."""
        return self.adapted(1.0, None)

    def adapted(self, temperature: float, bias: LocalityBias | None) -> Decoding:
        """Sample with the layer as it is now."""
        adapter = Adapter.from_flat(self.eta, self.place)
        return replace(self.task.decoding, temperature=temperature, bias=bias, adapter=adapter)

    def rollout(self, iteration: int, progress: float) -> Rollouts:  # noqa: D102
        self.used = self.decoding(iteration, progress)
        self.sums = EtaSums.zeros(len(self.eta), self.task.inputs.width, self.eta.device)
        request = Request(
            0,
            torch.zeros(0),
            forced=self.target,
            eta_sums=self.sums,
            centre=self.centre,
        )
        return self.task.rollout(self.used, iteration, request)

    def learn(self, rollouts: Rollouts, incumbent: Incumbent) -> None:  # noqa: D102
        samples = self.task.rollouts
        cost = rollouts.cost[:, :samples]
        mean = cost.mean(dim=1)
        excess = (mean - self.centre).unsqueeze(1)
        gradient = (self.sums.by_cost - excess * self.sums.plain) / samples
        if self.objective.replay:
            gradient = gradient - self.objective.imitation * self.sums.forced
            self.target = self.task.replayed(incumbent)
        else:
            best = rollouts.actions[torch.arange(len(cost)), cost.argmin(dim=1)]
            gradient = gradient - self.objective.imitation * self.task.eta_gradient(
                self.used, best.unsqueeze(1)
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
