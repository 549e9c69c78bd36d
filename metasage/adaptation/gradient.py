"""Adaptation of parameters that the decoder's inputs depend on.

The engine differentiates log-likelihoods with respect to those inputs, and
torch carries on to the parameters.
"""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor

from metasage.adaptation.method import Strategy
from metasage.adaptation.objective import Objective
from metasage.adaptation.optimiser import Adam
from metasage.adaptation.resources import one_thread
from metasage.adaptation.result import Incumbent
from metasage.adaptation.task import Task
from metasage.rollout.interface import DecoderInputs, Decoding, Request, Rollouts


class GradientAdaptation(Strategy):
    """Samples with the parameters, then moves them along the gradient.

    Parameters
    ----------
    task
        What is solved.
    objective
        Settings of the update.
    """

    def __init__(self, task: Task, objective: Objective) -> None:
        self.task, self.objective = task, objective
        self.parameters = [tensor.requires_grad_() for tensor in self.make_parameters()]
        self.optimisers = [
            Adam(tensor, objective.learning_rate, objective.weight_decay)
            for tensor in self.parameters
        ]
        self.target: Tensor | None = None

    @abstractmethod
    def make_parameters(self) -> list[Tensor]:
        """Make the tensors that are adapted, apart from those of the policy."""

    @abstractmethod
    def inputs(self) -> DecoderInputs:
        """Compute the decoder's inputs from the parameters, with a graph."""

    def decoding(self, iteration: int, progress: float) -> Decoding:
        """Say how choices are made; methods with schedules override it."""
        return self.task.decoding

    def rollout(self, iteration: int, progress: float) -> Rollouts:  # noqa: D102
        self.used = self.decoding(iteration, progress)
        with one_thread():
            self.task.inputs = self.inputs()
        request = Request(0, torch.zeros(0), forced=self.target)
        return self.task.rollout(self.used, iteration, request)

    def learn(self, rollouts: Rollouts, incumbent: Incumbent) -> None:  # noqa: D102
        weights = self.objective.weights(rollouts.cost.float(), self.task.rollouts)
        gradients = self.gradients(rollouts, weights)
        for optimiser, gradient in zip(self.optimisers, gradients, strict=True):
            if gradient is not None:
                optimiser.descend(gradient)
        if self.objective.replay and self.objective.imitation:
            self.target = self.task.replayed(incumbent)

    def gradients(self, rollouts: Rollouts, weights: Tensor) -> list[Tensor | None]:
        """Differentiate the loss with respect to the parameters, as memory allows."""
        task = self.task
        every = rollouts.cost.shape[1]
        step = task.chunk(learning=True) if task.engine.name == "torch" else every
        total: list[Tensor | None] = [None] * len(self.parameters)
        for first in range(0, every, step):
            part = slice(first, first + step)
            loss = task.engine.weighted_log_likelihood(
                task.batch,
                task.inputs,
                self.used,
                rollouts.some(part),
                weights[:, part],
                task.deadline,
            )
            with one_thread():
                found = torch.autograd.grad(
                    loss, self.parameters, allow_unused=True, retain_graph=first + step < every
                )
            for index, gradient in enumerate(found):
                before = total[index]
                total[index] = gradient if before is None else before + gradient
        return total
