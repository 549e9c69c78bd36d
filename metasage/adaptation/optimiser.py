"""Adam (Kingma and Ba 2015) on one tensor, the same bits on any number of threads."""

from __future__ import annotations

import torch
from torch import Tensor


class Adam:
    """Adam for a single tensor of parameters.

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
        """Take a step against a gradient."""
        gradient = gradient.to(self.parameters) + self.weight_decay * self.parameters
        self.steps += 1
        self.mean.lerp_(gradient, 1 - 0.9)
        self.square.mul_(0.999).addcmul_(gradient, gradient, value=1 - 0.999)
        rate = self.learning_rate / (1 - 0.9**self.steps)
        deviation = (self.square / (1 - 0.999**self.steps)).sqrt_().add_(1e-8)
        self.parameters.addcdiv_(self.mean, deviation, value=-rate)
