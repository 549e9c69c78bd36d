"""What adaptation maximises: REINFORCE with a shared baseline, plus self-imitation."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from metasage.errors import InputError


@dataclass(frozen=True)
class Objective:
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

    def __post_init__(self) -> None:
        if not self.learning_rate > 0:
            raise InputError(f"the learning rate is {self.learning_rate} and must be positive.")
        if self.imitation < 0 or self.weight_decay < 0:
            raise InputError("imitation and weight decay must not be negative.")

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
