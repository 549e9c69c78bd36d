"""Normalisations of the encoder."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from metasage.runtime import resources

_HAS_KERNEL = resources.is_built()


class InstanceNorm(nn.Module):
    """Normalises each dimension over the nodes of an instance.

    Parameters
    ----------
    width
        Number of dimensions.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, h: Tensor) -> Tensor:
        """Normalise embeddings of shape (instances, nodes, width)."""
        if _HAS_KERNEL and h.device.type == "cpu" and h.dtype == torch.float32:
            result: Tensor = _NativeInstanceNorm.apply(h, self.weight, self.bias)  # type: ignore[no-untyped-call]
            return result
        variance, mean = torch.var_mean(h, dim=1, correction=0, keepdim=True)
        return (h - mean) * (variance + 1e-5).rsqrt() * self.weight + self.bias


class BatchNorm(nn.BatchNorm1d):
    """Normalises each dimension over all nodes of a batch."""

    def forward(self, h: Tensor) -> Tensor:
        """Normalise embeddings of shape (instances, nodes, width)."""
        return super().forward(h.flatten(0, 1)).view_as(h)


class _NativeInstanceNorm(torch.autograd.Function):
    """Two passes over memory instead of the dozen that torch's operators need."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        import metasage._native as _native

        given = {"x": h.contiguous(), "weight": weight, "bias": bias}
        arrays = {name: tensor.detach().numpy() for name, tensor in given.items()}
        y, mean, scale = _native.norm_forward(**arrays, threads=torch.get_num_threads())
        ctx.arrays = {"x": arrays["x"], "weight": arrays["weight"], "mean": mean, "scale": scale}
        return torch.from_numpy(y)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:
        import metasage._native as _native

        found = _native.norm_backward(
            **ctx.arrays,
            gradient=gradient.contiguous().numpy(),
            threads=torch.get_num_threads(),
        )
        return tuple(torch.from_numpy(array) for array in found)
