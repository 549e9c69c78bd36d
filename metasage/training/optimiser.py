"""Optimisers of a policy: Adam for everything, or Muon for its matrices and Adam for the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.optim import Adam, Optimizer

from metasage.policies.policy import AttentionPolicy

_MOMENTUM = 0.95
# Of Jordan et al.'s fifth-order iteration, which drives singular values to about 1.
_ITERATIONS, _COEFFICIENTS = 5, (3.4445, -4.7750, 2.0315)
# Below that a matrix embeds coordinates or demands, not features: Adam's case.
_SMALLEST_MATRIX = 32


def make_optimisers(policy: AttentionPolicy, weight_decay: float, muon: float) -> list[Optimizer]:
    """Return the optimisers that share the parameters of a policy.

    Parameters
    ----------
    policy
        The policy to be trained.
    weight_decay
        L2 term of Adam.
    muon
        Size of Muon's updates of a matrix as a multiple of the learning rate;
        0 leaves all parameters to Adam.
    """
    parameters = list(policy.parameters())
    matrices = [p for p in parameters if muon and p.ndim == 2 and min(p.shape) >= _SMALLEST_MATRIX]
    chosen = {id(matrix) for matrix in matrices}
    others = [p for p in parameters if id(p) not in chosen]
    adam = Adam(others, lr=1e-4, weight_decay=weight_decay, fused=True)
    return [Muon(matrices, muon), adam] if matrices else [adam]


class Muon(Optimizer):
    """Momentum whose update of each matrix has all singular values equal (Jordan et al. 2024).

    torch's own works in bfloat16, which not every CPU can multiply, and takes
    a fused query-key-value matrix for one. Here every square block of a tall
    matrix of the attention is orthogonalised for itself, in float32.

    Parameters
    ----------
    matrices
        The parameters, all of two dimensions.
    size
        Root mean square of an update's entries, as a multiple of the learning rate.
    """

    def __init__(self, matrices: Iterable[Tensor], size: float) -> None:
        super().__init__(matrices, {"lr": 1e-4, "size": size})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Take a step against the gradients."""
        for group in self.param_groups:
            # Matrices of one shape go through the iteration together.
            blocks: dict[tuple[int, ...], list[tuple[Tensor, Tensor]]] = {}
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                state = self.state[matrix]
                if not state:
                    state["momentum"] = torch.zeros_like(matrix)
                state["momentum"].lerp_(matrix.grad, 1 - _MOMENTUM)
                update = matrix.grad.lerp(state["momentum"], _MOMENTUM)
                count = 3 if matrix.shape[0] == 3 * matrix.shape[1] else 1  # query, key, value
                for part, its_update in zip(matrix.chunk(count), update.chunk(count), strict=True):
                    blocks.setdefault(tuple(part.shape), []).append((part, its_update))
            for shape, pairs in blocks.items():
                directions = orthogonalise(torch.stack([update for _, update in pairs]))
                # An orthogonal matrix has entries of 1 / sqrt(its longer side).
                rate = group["lr"] * group["size"] * max(shape) ** 0.5
                for (part, _), direction in zip(pairs, directions, strict=True):
                    part.sub_(direction, alpha=rate)


def orthogonalise(matrices: Tensor) -> Tensor:
    """Return the nearest matrices with singular values of about 1, by Newton-Schulz iteration."""
    tall = matrices.shape[-2] > matrices.shape[-1]
    x: Tensor = matrices.mT if tall else matrices
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    a, b, c = _COEFFICIENTS
    for _ in range(_ITERATIONS):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if tall else x
