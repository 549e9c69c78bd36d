"""Adaptation of parameters that the decoder's inputs depend on: AS, EAS-Emb, SAGE on h.

The engine differentiates log-likelihoods with respect to those inputs, and
torch carries on to the parameters.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Protocol

import torch
from torch import Tensor

from metasage.adaptation.guidance import UNGUIDED, Guide, Guided
from metasage.adaptation.query import initial_eta
from metasage.adaptation.resources import one_thread
from metasage.adaptation.task import Task, scaled_embedding
from metasage.adaptation.update import Update
from metasage.errors import InputError
from metasage.problems import Solution
from metasage.rollout.interface import Adapter, DecoderInputs, Request, Rollouts


class Adapted(Protocol):
    """What is adapted: parameters, and what the decoder makes of them."""

    parameters: list[Tensor]

    def inputs(self) -> DecoderInputs:
        """Compute the decoder's inputs from the parameters, with a graph."""


class PolicyWeights(Adapted):
    """All weights of a copy of the policy, so that every instance starts from the same ones."""

    def __init__(self, task: Task) -> None:
        self.task, self.policy = task, copy.deepcopy(task.policy)
        self.parameters = list(self.policy.parameters())
        if not self.parameters:
            raise InputError("active search adapts a network's weights, and this one has none.")

    def inputs(self) -> DecoderInputs:  # noqa: D102
        h = scaled_embedding(self.policy, self.task.sml, self.task.batch)
        found: DecoderInputs = self.policy.decoder(h)
        return found


class PointerKeys(Adapted):
    """The keys of the pointer; all else stays as it is."""

    def __init__(self, task: Task) -> None:
        self.first = task.inputs
        self.parameters = [task.inputs.pointers.clone()]

    def inputs(self) -> DecoderInputs:  # noqa: D102
        return replace(self.first, pointers=self.parameters[0])


class EmbeddingLayer(Adapted):
    """A residual layer on the node embeddings."""

    def __init__(self, task: Task) -> None:
        self.task, self.first = task, task.embedding
        eta = initial_eta(task.batch.num_instances, task.inputs.width, task.seed)
        self.parameters = [eta.to(task.batch.device)]

    def inputs(self) -> DecoderInputs:  # noqa: D102
        found: DecoderInputs = self.task.policy.decoder(self.embedding())
        return found

    def embedding(self) -> Tensor:
        """Node embeddings as the layer leaves them."""
        return Adapter.from_flat(self.parameters[0])(self.first)


class GradientAdaptation(Guided):
    """Samples with the parameters, then moves them along the gradient.

    Parameters
    ----------
    task
        What is solved.
    update
        Settings of the update.
    adapted
        What is adapted.
    guide
        Temperature and bias of the samples.
    """

    def __init__(
        self, task: Task, update: Update, adapted: Adapted, guide: Guide = UNGUIDED
    ) -> None:
        self.task, self.update, self.adapted, self.guide = task, update, adapted, guide
        self.parameters = [tensor.requires_grad_() for tensor in adapted.parameters]
        self.optimisers = [update.optimiser(tensor) for tensor in self.parameters]
        self.target: Tensor | None = None

    def rollout(self, iteration: int, progress: float) -> Rollouts:  # noqa: D102
        self.used = self.guide.decoding(self.task, iteration, progress)
        with one_thread():
            self.task.inputs = self.adapted.inputs()
        request = Request(0, torch.zeros(0), forced=self.target)
        return self.task.rollout(self.used, iteration, request)

    def learn(self, rollouts: Rollouts, best: Solution | None) -> None:  # noqa: D102
        weights = self.update.weights(rollouts.cost.float(), self.task.rollouts)
        gradients = self.gradients(rollouts, weights)
        for optimiser, gradient in zip(self.optimisers, gradients, strict=True):
            if gradient is not None:
                optimiser.descend(gradient)
        if self.update.replay and self.update.imitation:
            self.target = self.task.replayed(best)

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
                task.patience,
            )
            if not loss.requires_grad:  # every step was given
                continue
            with one_thread():
                found = torch.autograd.grad(
                    loss, self.parameters, allow_unused=True, retain_graph=first + step < every
                )
            for index, gradient in enumerate(found):
                before = total[index]
                total[index] = gradient if before is None else before + gradient
        return total
