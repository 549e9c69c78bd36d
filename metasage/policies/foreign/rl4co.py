"""Lightning checkpoints of RL4CO: AM, POMO and SymNCO."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from metasage.policies.config import PolicyConfig
from metasage.policies.foreign.inert import Inert
from metasage.policies.foreign.tensors import Tensors

MARK = "encoder.net.layers.0.0.module.Wqkv.weight"
_CONTEXT = "decoder.context_embedding"


def policy_tensors(state: dict[str, Any]) -> dict[str, Any]:
    """Keep the policy of a training module; its baseline is a copy that is not used."""
    return {
        name.removeprefix("policy."): tensor
        for name, tensor in state.items()
        if not name.startswith("baseline.")
    }


def guess_problem(tensors: Tensors, checkpoint: Any) -> str | None:
    """Tell the problem by the tensors, or by the class of the pickled environment."""
    if f"{_CONTEXT}.W_placeholder" in tensors:
        return "tsp"
    if tensors.take("encoder.init_embedding.init_embed.weight", None, None).shape[1] == 4:
        return "pctsp"
    settings = checkpoint.get("hyper_parameters")
    environment = settings.get("env") if isinstance(settings, dict) else None
    if isinstance(environment, Inert):
        name = environment.kind.rpartition(".")[2].removesuffix("Env").lower()
        return name if name in ("cvrp", "op") else None
    return None


def convert(tensors: Tensors, problem: str) -> tuple[PolicyConfig, dict[str, Tensor]]:
    """Map the tensors to those of our policy."""
    width = tensors.take(MARK, None, None).shape[1]
    batch_norm = "encoder.net.layers.0.1.normalizer.running_mean" in tensors
    config = PolicyConfig(
        problem,
        width=width,
        layers=tensors.count("encoder.net.layers.{}.0.module.Wqkv.weight"),
        hidden=tensors.take("encoder.net.layers.0.2.module.lins.0.weight", None, width).shape[0],
        norm="batch" if batch_norm else "instance",
        attention_bias=True,
        combine_bias=False,
        projected_pointer=True,
        # POMO there is the one with instance norm, and the one without the mean.
        mean_query=batch_norm,
        placeholder=problem == "tsp",
        projection_head="projection_head.0.weight" in tensors,
        starts="free" if batch_norm else "forced",
    )
    source = "encoder.init_embedding"
    state = tensors.linear(f"{source}.init_embed", "encoder.embed", width, config.num_features)
    for i in range(config.layers):
        old, new = f"encoder.net.layers.{i}", f"encoder.layers.{i}"
        state |= tensors.linear(f"{old}.0.module.Wqkv", f"{new}.query_key_value", 3 * width, width)
        state |= tensors.linear(f"{old}.0.module.out_proj", f"{new}.combine", width, width)
        state |= tensors.norm(f"{old}.1.normalizer", f"{new}.norm1", width)
        state |= tensors.linear(f"{old}.2.module.lins.0", f"{new}.hidden", config.hidden, width)
        state |= tensors.linear(f"{old}.2.module.lins.1", f"{new}.output", width, config.hidden)
        state |= tensors.norm(f"{old}.3.normalizer", f"{new}.norm2", width)
    context = f"{_CONTEXT}.project_context.weight"
    if config.rules.has_depot:
        state |= tensors.linear(f"{source}.init_embed_depot", "encoder.embed_depot", width, 2)
        joint = tensors.take(context, width, width + 1)
        state["decoder.query_last.weight"] = joint[:, :width]
        state["decoder.query_scalar"] = joint[:, width]
    else:
        joint = tensors.take(context, width, 2 * width)
        state["decoder.query_first.weight"] = joint[:, :width]
        state["decoder.query_last.weight"] = joint[:, width:]
        placeholder = tensors.take(f"{_CONTEXT}.W_placeholder", 2 * width)
        state["decoder.placeholder"] = placeholder.view(2, width)
    keys = tensors.take("decoder.project_node_embeddings.weight", 3 * width, width)
    for name, part in zip(("key", "value", "pointer"), keys.chunk(3), strict=True):
        state[f"decoder.{name}.weight"] = part
    state["decoder.combine.weight"] = tensors.take(
        "decoder.pointer.project_out.weight", width, width
    )
    if config.mean_query:
        mean = tensors.take("decoder.project_fixed_context.weight", width, width)
        state["decoder.query_mean.weight"] = mean
    else:
        tensors.ignore("decoder.project_fixed_context.weight")
    if config.projection_head:
        for i in (0, 2):
            state |= tensors.linear(f"projection_head.{i}", f"projection_head.{i}", width, width)
    return config, state
