"""The update of a method that learns: REINFORCE with a shared baseline, plus self-imitation."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from metasage.errors import NotFinite


@dataclass(frozen=True)
class Update:
    """Settings of the update.

    Parameters
    ----------
    learning_rate
        Step size of Adam.
    imitation
        Weight lambda of the self-imitation term.
    weight_decay
        Factor of the parameters that is added to their gradient.
    replay
        Whether the solution to imitate is the best one so far, rolled out anew
        beside the samples; otherwise it is the best of the samples.
    """

    learning_rate: float
    imitation: float
    weight_decay: float = 0.0
    replay: bool = True

    def optimiser(self, parameters: Tensor) -> Adam:
        """Return what changes some parameters."""
        return Adam(parameters, self.learning_rate, self.weight_decay)

    def weights(self, cost: Tensor, samples: int) -> Tensor:
        """Weights of the log-likelihoods whose sum is the loss to descend.

        Parameters
        ----------
        cost
            Costs of shape (copies, rollouts): the samples first, then, if one
            is replayed, the solution to imitate.
        samples
            Number of samples.
        """
        sampled = cost[:, :samples]
        weights = torch.zeros_like(cost)
        weights[:, :samples] = (sampled - sampled.mean(dim=1, keepdim=True)) / samples
        if cost.shape[1] > samples:
            weights[:, samples:] = -self.imitation
        elif not self.replay:
            best = sampled.argmin(dim=1, keepdim=True)
            weights.scatter_add_(1, best, torch.full_like(best, -self.imitation, dtype=cost.dtype))
        return weights


class Adam:
    """Adam (Kingma and Ba 2015) on one tensor, the same bits on any number of threads.

    Parameters
    ----------
    parameters
        The tensor, which is changed in place.
    learning_rate
        The learning rate.
    weight_decay
        Factor of the parameters that is added to their gradient.
    """

    def __init__(self, parameters: Tensor, learning_rate: float, weight_decay: float = 0.0) -> None:
        self.parameters = parameters
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.mean = torch.zeros_like(parameters)
        self.square = torch.zeros_like(parameters)
        self.steps = 0

    @torch.no_grad()
    def descend(self, gradient: Tensor) -> None:
        """Take a step against a gradient; from one that is not finite, keep away."""
        if not gradient.isfinite().all():
            raise NotFinite("the gradient is not finite.")
        gradient = gradient.to(self.parameters) + self.weight_decay * self.parameters
        self.steps += 1
        self.mean.lerp_(gradient, 1 - 0.9)
        self.square.mul_(0.999).addcmul_(gradient, gradient, value=1 - 0.999)
        rate = self.learning_rate / (1 - 0.9**self.steps)
        deviation = (self.square / (1 - 0.999**self.steps)).sqrt_().add_(1e-8)
        self.parameters.addcdiv_(self.mean, deviation, value=-rate)
