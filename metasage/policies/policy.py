"""The attention policy: an encoder, and what the decoder needs from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from metasage.policies.config import PolicyConfig
from metasage.policies.encoder import Encoder
from metasage.policies.locality import Strengths
from metasage.problems import Instance
from metasage.problems.batch import Batch
from metasage.rollout.interface import Adapter, DecoderInputs

# What a neighbour's distance takes off the logit of an untrained policy, and how small
# its queries are where they reach the pointer directly.
_NEAR, _SMALL = 0.7, 0.1


class AttentionPolicy(nn.Module):
    """One policy that can be configured to be AM, POMO or Sym-NCO.

    The encoder runs once an instance; an engine then constructs rollouts from
    the inputs of the decoder.

    Parameters
    ----------
    config
        Architecture.
    """

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        width = config.width
        self.projection_head = (
            nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
            if config.projection_head
            else None
        )

    def view(self, instances: Sequence[Instance], device: torch.device | str = "cpu") -> Batch:
        """Turn instances of one size into the batch that this policy sees."""
        batch = Batch.of(instances, device)
        self.config.require_problem(batch.problem.name)
        if not self.config.fractional_load:
            return batch
        capacity = batch.fields["capacity"]
        fractions = {
            "demand": batch.fields["demand"] / capacity.unsqueeze(-1),
            "capacity": torch.ones_like(capacity),
        }
        return replace(batch, fields=batch.fields | fractions)

    def embed(self, batch: Batch) -> Tensor:
        """Return node embeddings h of shape (instances, nodes, width)."""
        return self.encoder(batch)  # type: ignore[no-any-return]

    def forward(self, batch: Batch) -> DecoderInputs:
        """Encode a batch into the inputs of the decoder."""
        inputs: DecoderInputs = self.decoder(self.embed(batch))
        return inputs


class Decoder(nn.Module):
    """Weights of the decoder, which an engine applies step by step."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        problem = config.rules

        def linear() -> nn.Linear:
            return nn.Linear(width, width, bias=False)

        self.query_last = linear()
        self.query_first = None if problem.has_depot else linear()
        self.query_mean = linear() if config.mean_query else None
        self.query_scalar = (
            nn.Parameter(torch.empty(width).uniform_(-(width**-0.5), width**-0.5))
            if problem.scalar_context
            else None
        )
        self.placeholder = (
            nn.Parameter(torch.empty(2, width).uniform_(-1, 1)) if config.placeholder else None
        )
        self.key = linear()
        self.value = linear()
        self.pointer = linear() if config.projected_pointer else None
        self.combine = nn.Linear(width, width, bias=config.combine_bias)
        self.glimpse_locality = Strengths((config.heads,)) if config.glimpse_locality else None
        self.pointer_locality = (
            Strengths(first=_first_strength(config)) if config.pointer_locality != "none" else None
        )
        self.residual = ResidualLayer(width) if config.query_residual else None
        if config.query_skip:
            # Added to the glimpse as they are, queries would drown it at first.
            for layer in filter(None, (self.query_last, self.query_first)):
                nn.init.uniform_(layer.weight, -_SMALL * width**-0.5, _SMALL * width**-0.5)

    def forward(self, h: Tensor) -> DecoderInputs:
        """Prepare all that does not change from step to step."""
        query_last = self.query_last(h)
        start = None
        if self.placeholder is not None and self.query_first is not None:
            first, last = self.placeholder
            start = (self.query_first(first) + self.query_last(last)).expand(len(h), -1)
        if self.query_mean is not None:
            mean = self.query_mean(h.mean(dim=1))
            query_last = query_last + mean.unsqueeze(1)
            start = None if start is None else start + mean
        return DecoderInputs(
            keys=self.key(h),
            values=self.value(h),
            pointers=h if self.pointer is None else self.pointer(h),
            query_last=query_last,
            query_first=None if self.query_first is None else self.query_first(h),
            query_scalar=self.query_scalar,
            query_start=start,
            combine_weight=self.combine.weight,
            combine_bias=self.combine.bias,
            heads=self.config.heads,
            clip=self.config.clip,
            glimpse_locality=None if self.glimpse_locality is None else self.glimpse_locality(),
            pointer_locality=None if self.pointer_locality is None else self.pointer_locality(),
            locality_inside=self.config.pointer_locality == "inside",
            skip=self.config.query_skip,
            adapter=None if self.residual is None else self.residual(),
        )


class ResidualLayer(nn.Module):
    """The layer on the query that SAGE adapts, trained with the policy.

    It starts as the identity.

    Parameters
    ----------
    width
        Embedding width.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        bound = width**-0.5
        self.w1 = nn.Parameter(torch.empty(width, width).uniform_(-bound, bound))
        self.b1 = nn.Parameter(torch.empty(width).uniform_(-bound, bound))
        self.w2 = nn.Parameter(torch.zeros(width, width))
        self.b2 = nn.Parameter(torch.zeros(width))

    def forward(self) -> Adapter:
        """Return the layer as one of all instances."""
        w1, b1, w2, b2 = (tensor.unsqueeze(0) for tensor in (self.w1, self.b1, self.w2, self.b2))
        return Adapter(w1, b1, w2, b2)


def _first_strength(config: PolicyConfig) -> float:
    """Return a strength with which an untrained policy visits near nodes."""
    return _NEAR / config.clip if config.pointer_locality == "inside" else _NEAR
