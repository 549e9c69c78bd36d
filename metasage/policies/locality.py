"""Learned preferences for near nodes; `metasage.rollout.locality` says what they mean."""

from __future__ import annotations

import torch
from torch import Tensor, nn

# Strengths are of the order of one, weights of a tenth: so they learn ten times as fast.
_FACTOR = 10.0


class Strengths(nn.Module):
    """Strengths of one or several preferences, in both measures of distance.

    Parameters
    ----------
    shape
        How many preferences there are: one for each head, or () for one.
    first
        Strength of the plain distance before any training.
    """

    def __init__(self, shape: tuple[int, ...] = (), first: float = 0.0) -> None:
        super().__init__()
        weight = torch.zeros(*shape, 2)
        weight[..., 0] = first / _FACTOR
        self.weight = nn.Parameter(weight)

    def forward(self) -> Tensor:
        """Return the strengths, shape (..., 2)."""
        return _FACTOR * self.weight
