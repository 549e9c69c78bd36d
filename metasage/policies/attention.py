"""Attention of the nodes of an instance to each other, which may prefer near ones."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from metasage.problems.batch import Batch
from metasage.rollout.locality import measures, preference
from metasage.runtime import resources

_HAS_KERNEL = resources.is_built()
_KERNEL_HEADS = 8
_KERNEL_WIDTHS = (64, 128)


def self_attention(
    query_key_value: Tensor, heads: int, batch: Batch, strengths: Tensor | None
) -> Tensor:
    """Let all nodes attend to all.

    Parameters
    ----------
    query_key_value
        Queries, keys and values side by side, shape (instances, nodes, 3 width).
    heads
        Number of heads.
    batch
        The instances, which know how far their nodes are.
    strengths
        Strengths of each head's preference for near nodes in both measures of
        `metasage.rollout.locality`, shape (heads, 2); None for none.

    Returns
    -------
    Tensor
        Values of all heads, weighted, shape (instances, nodes, width).
    """
    if strengths is not None and _fits_kernel(query_key_value, heads):
        found: Tensor = _NativeAttention.apply(query_key_value, strengths, batch)  # type: ignore[no-untyped-call]
        return found
    split = query_key_value.view(*query_key_value.shape[:2], 3, heads, -1)
    query, key, value = split.permute(2, 0, 3, 1, 4)
    mask = None
    if strengths is not None:
        nodes = torch.arange(batch.num_nodes, device=batch.device)
        distances = measures(batch, nodes.expand(batch.num_instances, -1))
        mask = -preference(strengths, distances).transpose(0, 1)
    glimpse = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return glimpse.transpose(1, 2).flatten(2)


def _fits_kernel(query_key_value: Tensor, heads: int) -> bool:
    return (
        _HAS_KERNEL
        and heads == _KERNEL_HEADS
        and query_key_value.shape[-1] // 3 in _KERNEL_WIDTHS
        and query_key_value.device.type == "cpu"
        and query_key_value.dtype == torch.float32
    )


class _NativeAttention(torch.autograd.Function):
    """Computes distances on the way: nothing of size nodes x nodes is stored."""

    @staticmethod
    def forward(ctx: Any, query_key_value: Tensor, strengths: Tensor, batch: Batch) -> Tensor:
        import metasage._native as _native

        given = {
            "query_key_value": query_key_value,
            "strengths": strengths,
            "coords": batch.coords,
            "unit": batch.unit,
        }
        arrays = {name: tensor.detach().contiguous().numpy() for name, tensor in given.items()}
        ctx.arguments = arrays | {
            "has_depot": batch.problem.has_depot,
            "threads": torch.get_num_threads(),
        }
        return torch.from_numpy(_native.attention_forward(**ctx.arguments))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        import metasage._native as _native

        found = _native.attention_backward(**ctx.arguments, gradient=gradient.contiguous().numpy())
        return (*(torch.from_numpy(array) for array in found), None)
