"""The encoder: a transformer over the nodes of an instance."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from metasage.policies.attention import self_attention
from metasage.policies.config import PolicyConfig
from metasage.policies.locality import Strengths
from metasage.policies.norm import BatchNorm, InstanceNorm
from metasage.problems.batch import Batch


class Encoder(nn.Module):
    """Embeds nodes and lets them attend to each other (Kool et al. 2019)."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.embed = nn.Linear(config.num_features, config.width)
        self.embed_depot = nn.Linear(2, config.width) if config.rules.has_depot else None
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))

    def forward(self, batch: Batch) -> Tensor:
        """Turn instances into embeddings of shape (instances, nodes, width)."""
        features = batch.features
        if self.embed_depot is None:
            h = self.embed(features)
        else:
            depot = self.embed_depot(features[:, :1, :2])
            h = torch.cat([depot, self.embed(features[:, 1:])], dim=1)
        for layer in self.layers:
            h = layer(h, batch)
        return h  # type: ignore[no-any-return]


class EncoderLayer(nn.Module):
    """Attention and a feed-forward part, each with a residual and a norm after it."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.query_key_value = nn.Linear(width, 3 * width, bias=config.attention_bias)
        self.combine = nn.Linear(width, width, bias=config.encoder_combine_bias)
        self.norm1 = make_norm(config)
        self.hidden = nn.Linear(width, config.hidden)
        self.output = nn.Linear(config.hidden, width)
        self.norm2 = make_norm(config)
        self.locality = Strengths((config.heads,)) if config.encoder_locality else None

    def forward(self, h: Tensor, batch: Batch) -> Tensor:
        """Update embeddings of shape (instances, nodes, width)."""
        strengths = None if self.locality is None else self.locality()
        glimpse = self_attention(self.query_key_value(h), self.heads, batch, strengths)
        h = self.norm1(h + self.combine(glimpse))
        return self.norm2(h + self.output(functional.relu(self.hidden(h))))  # type: ignore[no-any-return]


def make_norm(config: PolicyConfig) -> nn.Module:
    """Build the normalisation that a policy asks for."""
    return InstanceNorm(config.width) if config.norm == "instance" else BatchNorm(config.width)
