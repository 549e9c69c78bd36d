"""POMO as published twice, and what was built on it: EAS, SGBS, Sym-NCO, AMDKD, Meta-SAGE."""

from __future__ import annotations

import torch
from torch import Tensor

from metasage.policies.config import PolicyConfig
from metasage.policies.foreign.tensors import Tensors

MARK = "encoder.layers.0.Wq.weight"

# The old version (which EAS uses) calls its decoder so, and normalises over the batch.
_OLD_DECODER = "node_prob_calculator"

# Helpers of AMDKD's distillation, without a part in solving.
_DISTILLATION = ("W_hidden.weight", "W_embed.weight")

# The scale meta-learner of Meta-SAGE: the network's name and ours.
_SML = {
    "cond_1.0.weight": "sml.scale_in.weight",
    "cond_1.2.weight": "sml.scale_out.weight",
    "proj_N_h.0.weight": "sml.hidden.weight",
    "proj_N_h.2.weight": "sml.output.weight",
}


def guess_problem(tensors: Tensors) -> str | None:
    """Tell the problem by the tensors."""
    return "tsp" if "encoder.embedding.weight" in tensors else "cvrp"


def convert(tensors: Tensors, problem: str) -> tuple[PolicyConfig, dict[str, Tensor]]:
    """Map the tensors to those of our policy."""
    width = tensors.take(MARK, None, None).shape[0]
    old = f"{_OLD_DECODER}.Wk.weight" in tensors
    decoder = _OLD_DECODER if old else "decoder"
    forward = next(
        name
        for name in ("feedForward", "feed_forward")
        if f"encoder.layers.0.{name}.W1.weight" in tensors or name == "feed_forward"
    )
    config = PolicyConfig(
        problem,
        width=width,
        layers=tensors.count("encoder.layers.{}.Wq.weight"),
        hidden=tensors.take(f"encoder.layers.0.{forward}.W1.weight", None, width).shape[0],
        norm="batch" if old else "instance",
        mean_query=old or "decoder.Wq_mean.weight" in tensors,
        projection_head="decoder.proj.0.weight" in tensors,
    )
    state = _encoder(tensors, config, forward)
    state |= _queries(tensors, config, decoder)
    for name, part in (("key", "Wk"), ("value", "Wv")):
        state[f"decoder.{name}.weight"] = tensors.take(f"{decoder}.{part}.weight", width, width)
    state |= tensors.linear(f"{decoder}.multi_head_combine", "decoder.combine", width, width)
    if config.projection_head:
        for i in (0, 2):
            state |= tensors.linear(f"decoder.proj.{i}", f"projection_head.{i}", width, width)
    if any(name in tensors for name in _SML):
        state |= _scale_meta_learner(tensors, width)
    tensors.ignore(*_DISTILLATION)
    return config, state


def _scale_meta_learner(tensors: Tensors, width: int) -> dict[str, Tensor]:
    hidden = tensors.take("proj_N_h.0.weight", None, width).shape[0]
    shapes = ((width, 1), (width, width), (hidden, width), (width, hidden))
    return {
        ours: tensors.take(name, *shape)
        for (name, ours), shape in zip(_SML.items(), shapes, strict=True)
    }


def _encoder(tensors: Tensors, config: PolicyConfig, forward: str) -> dict[str, Tensor]:
    width = config.width
    if config.rules.has_depot:
        state = tensors.linear("encoder.embedding_depot", "encoder.embed_depot", width, 2)
        state |= tensors.linear(
            "encoder.embedding_node", "encoder.embed", width, config.num_features
        )
    else:
        state = tensors.linear("encoder.embedding", "encoder.embed", width, config.num_features)
    for i in range(config.layers):
        old, new = f"encoder.layers.{i}", f"encoder.layers.{i}"
        parts = [tensors.take(f"{old}.{name}.weight", width, width) for name in ("Wq", "Wk", "Wv")]
        state[f"{new}.query_key_value.weight"] = torch.cat(parts)
        state |= tensors.linear(f"{old}.multi_head_combine", f"{new}.combine", width, width)
        state |= tensors.linear(f"{old}.{forward}.W1", f"{new}.hidden", config.hidden, width)
        state |= tensors.linear(f"{old}.{forward}.W2", f"{new}.output", width, config.hidden)
        for number in (1, 2):
            source = _norm_name(tensors, old, number)
            state |= tensors.norm(source, f"{new}.norm{number}", width)
    return state


def _norm_name(tensors: Tensors, layer: str, number: int) -> str:
    names = [
        f"{layer}.addAndNormalization{number}.norm",
        f"{layer}.addAndNormalization{number}.norm_by_EMB",
        f"{layer}.add_n_normalization_{number}.norm",
    ]
    return next((name for name in names if f"{name}.weight" in tensors), names[0])


def _queries(tensors: Tensors, config: PolicyConfig, decoder: str) -> dict[str, Tensor]:
    width = config.width

    def square(part: str) -> Tensor:
        return tensors.take(f"{decoder}.{part}.weight", width, width)

    state: dict[str, Tensor] = {}
    if f"{decoder}.Wq.weight" in tensors:  # the old CVRP: [mean ; last ; load]
        joint = tensors.take(f"{decoder}.Wq.weight", width, 2 * width + 1)
        state["decoder.query_mean.weight"] = joint[:, :width]
        state["decoder.query_last.weight"] = joint[:, width : 2 * width]
        state["decoder.query_scalar"] = joint[:, 2 * width]
        return state
    if config.mean_query:
        name = "Wq_mean" if f"{decoder}.Wq_mean.weight" in tensors else "Wq_graph"
        state["decoder.query_mean.weight"] = square(name)
    if config.rules.has_depot:
        joint = tensors.take(f"{decoder}.Wq_last.weight", width, width + 1)
        state["decoder.query_last.weight"] = joint[:, :width]
        state["decoder.query_scalar"] = joint[:, width]
    else:
        state["decoder.query_first.weight"] = square("Wq_first")
        state["decoder.query_last.weight"] = square("Wq_last")
    return state
