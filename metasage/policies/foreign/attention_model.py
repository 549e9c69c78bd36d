"""Kool's attention model, and Sym-NCO built on it (PCTSP, OP)."""

from __future__ import annotations

from torch import Tensor

from metasage.policies.config import PolicyConfig
from metasage.policies.foreign.tensors import Tensors

MARK = "embedder.layers.0.0.module.W_query"


def guess_problem(tensors: Tensors) -> str | None:
    """Tell the problem by the tensors; OP and CVRP look the same."""
    if "W_placeholder" in tensors:
        return "tsp"
    features = tensors.take("init_embed.weight", None, None).shape[1]
    return "pctsp" if features == 4 else None


def convert(tensors: Tensors, problem: str) -> tuple[PolicyConfig, dict[str, Tensor]]:
    """Map the tensors to those of our policy."""
    heads, width, _ = tensors.take(MARK, None, None, None).shape
    config = PolicyConfig(
        problem,
        width=width,
        heads=heads,
        layers=tensors.count("embedder.layers.{}.0.module.W_query"),
        hidden=tensors.take("embedder.layers.0.2.module.0.weight", None, width).shape[0],
        norm="batch" if "embedder.layers.0.1.normalizer.running_mean" in tensors else "instance",
        encoder_combine_bias=False,
        combine_bias=False,
        projected_pointer=True,
        mean_query=True,
        placeholder=problem == "tsp",
        projection_head="projection_head.0.weight" in tensors,
        starts="free",
        fractional_load=problem == "cvrp",
    )
    state = tensors.linear("init_embed", "encoder.embed", width, config.num_features)
    for i in range(config.layers):
        old, new = f"embedder.layers.{i}", f"encoder.layers.{i}"
        shape = (heads, width, width // heads)
        parts = [tensors.take(f"{old}.0.module.W_{n}", *shape) for n in ("query", "key", "val")]
        combine = tensors.take(f"{old}.0.module.W_out", heads, shape[2], width)
        state[f"{new}.query_key_value.weight"] = _stack_heads(parts)
        state[f"{new}.combine.weight"] = combine.reshape(width, width).T
        state |= tensors.norm(f"{old}.1.normalizer", f"{new}.norm1", width)
        state |= tensors.linear(f"{old}.2.module.0", f"{new}.hidden", config.hidden, width)
        state |= tensors.linear(f"{old}.2.module.2", f"{new}.output", width, config.hidden)
        state |= tensors.norm(f"{old}.3.normalizer", f"{new}.norm2", width)
    if config.rules.has_depot:
        state |= tensors.linear("init_embed_depot", "encoder.embed_depot", width, 2)
        context = tensors.take("project_step_context.weight", width, width + 1)
        state["decoder.query_last.weight"] = context[:, :width]
        state["decoder.query_scalar"] = context[:, width]
    else:
        context = tensors.take("project_step_context.weight", width, 2 * width)
        state["decoder.query_first.weight"] = context[:, :width]
        state["decoder.query_last.weight"] = context[:, width:]
        state["decoder.placeholder"] = tensors.take("W_placeholder", 2 * width).view(2, width)
    keys = tensors.take("project_node_embeddings.weight", 3 * width, width)
    for name, part in zip(("key", "value", "pointer"), keys.chunk(3), strict=True):
        state[f"decoder.{name}.weight"] = part
    state["decoder.query_mean.weight"] = tensors.take("project_fixed_context.weight", width, width)
    state["decoder.combine.weight"] = tensors.take("project_out.weight", width, width)
    if config.projection_head:
        for i in (0, 2):
            state |= tensors.linear(f"projection_head.{i}", f"projection_head.{i}", width, width)
    return config, state


def _stack_heads(parts: list[Tensor]) -> Tensor:
    """Turn per-head matrices (heads, width, head width) into one linear layer's."""
    import torch

    return torch.cat([part.transpose(1, 2).flatten(0, 1) for part in parts])
