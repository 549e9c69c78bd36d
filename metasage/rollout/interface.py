"""What a policy hands to an engine, and what an engine gives back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import pad

from metasage.problems.batch import Batch
from metasage.runtime.interrupts import ENDLESS, Patience


@dataclass(frozen=True, eq=False)
class Adapter:
    """Residual layer eta of each instance: ``x + relu(x w1 + b1) w2 + b2``.

    Parameters
    ----------
    w1, w2
        Matrices of shape (instances, width, width), or (1, width, width) for
        one layer of all instances.
    b1, b2
        Biases of shape (instances, width), or (1, width).
    place
        ``after`` the heads are combined (on the query q*), or ``before``.
    """

    w1: Tensor
    b1: Tensor
    w2: Tensor
    b2: Tensor
    place: Literal["after", "before"] = "after"

    @classmethod
    def from_flat(cls, flat: Tensor, place: Literal["after", "before"] = "after") -> Adapter:
        """Take the tensors from one of shape (instances, 2 width^2 + 2 width)."""
        # 2 w^2 + 2 w = size has one positive root.
        width = (int((1 + 2 * flat.shape[1]) ** 0.5) - 1) // 2
        sizes = [width * width, width, width * width, width]
        w1, b1, w2, b2 = torch.split(flat, sizes, dim=1)
        square = (-1, width, width)
        return cls(w1.reshape(square), b1, w2.reshape(square), b2, place)

    def flat(self) -> Tensor:
        """All parameters of an instance in one row: w1, b1, w2, b2."""
        return torch.cat([t.flatten(1) for t in (self.w1, self.b1, self.w2, self.b2)], dim=1)

    def __call__(self, x: Tensor) -> Tensor:
        """Apply the layer to queries of shape (instances, rollouts, width)."""
        hidden = torch.relu(x @ self.w1 + self.b1.unsqueeze(1))
        return x + hidden @ self.w2 + self.b2.unsqueeze(1)


@dataclass(frozen=True, eq=False)
class DecoderInputs:
    """Everything that stays the same during the rollouts of a batch.

    The query of a step is the sum of ``query_last`` at the current node,
    ``query_first`` at the first node and ``query_scalar`` times the number that
    the problem feeds; every constant term is part of ``query_last``.

    Parameters
    ----------
    keys, values, pointers
        Glimpse keys and values and the keys of the final pointer, shape
        (instances, nodes, width).
    query_last
        Query term of the current node, shape (instances, nodes, width).
    query_first
        Query term of the first node, likewise (TSP alone).
    query_scalar
        Query term of the problem's number, shape (width,).
    query_start
        Query before any node was chosen, shape (instances, width); None where
        the first node is always given.
    combine_weight, combine_bias
        The linear layer that joins the heads, as in `torch.nn.Linear`.
    heads
        Number of heads.
    clip
        Bound of the logits.
    glimpse_locality, pointer_locality
        Strengths of the policy's own preference for near nodes, in both
        measures of `metasage.rollout.locality`: of each head of the glimpse,
        shape (heads, 2), and of the pointer, shape (2,); None for none.
    locality_inside
        Whether the pointer's preference is ``clip tanh(s - preference)`` or
        ``clip tanh(s) - preference``.
    skip
        Whether the query is added to the combined glimpse.
    adapter
        The policy's own residual layer on the combined glimpse, if any, which
        one in `Decoding` takes the place of.
    """

    keys: Tensor
    values: Tensor
    pointers: Tensor
    query_last: Tensor
    query_first: Tensor | None
    query_scalar: Tensor | None
    query_start: Tensor | None
    combine_weight: Tensor
    combine_bias: Tensor | None
    heads: int
    clip: float
    glimpse_locality: Tensor | None = None
    pointer_locality: Tensor | None = None
    locality_inside: bool = False
    skip: bool = False
    adapter: Adapter | None = None

    @property
    def width(self) -> int:
        """Width of the embedding."""
        return self.keys.shape[-1]

    @property
    def has_locality(self) -> bool:
        """Whether the policy prefers near nodes."""
        return self.glimpse_locality is not None or self.pointer_locality is not None


@dataclass(frozen=True)
class LocalityBias:
    """A preference for near nodes.

    Parameters
    ----------
    kind
        ``outside``: ``clip tanh(s) - strength d``, the paper's formula;
        ``inside``: ``clip tanh(s - d ** strength)``, the published code's.
    strength
        The paper's alpha.
    """

    kind: Literal["outside", "inside"]
    strength: float


@dataclass(frozen=True, eq=False)
class EdgeBonus:
    """Numbers added to the logits of certain edges, after the temperature.

    Parameters
    ----------
    sources, targets
        Nodes that the edges lead from and to, shape (instances, edges), sorted
        by source.
    values
        Bonus of each edge.
    """

    sources: Tensor
    targets: Tensor
    values: Tensor


@dataclass(frozen=True, eq=False)
class Decoding:
    """How the logits of a step become a choice.

    Parameters
    ----------
    greedy
        Take the most likely node instead of a random one.
    temperature
        Divisor of the logits.
    bias
        Locality bias, if any.
    adapter
        Residual layer on the query, if any.
    bonus
        Bonus on certain edges, if any; for chosen rollouts alone, and without
        gradients.
    neighbours
        Number of nodes that a step looks at: those nearest to the current node
        among the allowed ones, equally far ones by number, and the depot where
        it is allowed; None for all. Before there is a current node all are
        looked at, and a given rollout's next node always is.
    """

    greedy: bool = False
    temperature: float = 1.0
    bias: LocalityBias | None = None
    adapter: Adapter | None = None
    bonus: EdgeBonus | None = None
    neighbours: int | None = None

    def adapter_of(self, inputs: DecoderInputs) -> Adapter | None:
        """Return the layer that acts on the query: the one here, or the policy's own."""
        return inputs.adapter if self.adapter is None else self.adapter


@dataclass(frozen=True, eq=False)
class EtaSums:
    """Sums of the gradients of log-likelihoods with respect to eta.

    Each has the shape (instances, 2 width^2 + 2 width) and is float64. They are
    linear in the baseline, so a baseline can be subtracted afterwards.

    Parameters
    ----------
    by_cost
        Over the sampled rollouts, weighted with cost minus ``centre``.
    plain
        Over the sampled rollouts, unweighted.
    forced
        Over the forced rollouts, unweighted.
    """

    by_cost: Tensor
    plain: Tensor
    forced: Tensor

    @classmethod
    def zeros(cls, instances: int, width: int, device: torch.device | str | None = None) -> EtaSums:
        """Start with sums over nothing."""
        shape = (instances, 2 * width * width + 2 * width)
        return cls(*(torch.zeros(shape, dtype=torch.float64, device=device) for _ in range(3)))


@dataclass(frozen=True, eq=False)
class Request:
    """Which rollouts are wanted.

    Parameters
    ----------
    rollouts
        Number of chosen (sampled or greedy) rollouts of each instance.
    seeds
        Random stream of each instance, int64 of shape (instances,).
    offset
        Number of the first rollout in the stream, for calls in chunks.
    starts
        First node of each chosen rollout, shape (instances, rollouts), or its
        first nodes, shape (instances, rollouts, steps); such steps have
        probability 1. None leaves the first step to the policy.
    forced
        Steps of further rollouts that are only scored, shape
        (instances, forced rollouts, steps), padded with node 0. Where ``starts``
        are given, their first steps have probability 1, too.
    eta_sums
        Where to add gradients with respect to eta, if they are wanted.
    centre
        Cost that ``eta_sums.by_cost`` is centred on, float64 (instances,).
    patience
        When the engine gives up.
    """

    rollouts: int
    seeds: Tensor
    offset: int = 0
    starts: Tensor | None = None
    forced: Tensor | None = None
    eta_sums: EtaSums | None = None
    centre: Tensor | None = None
    patience: Patience = ENDLESS

    def __post_init__(self) -> None:
        if self.starts is not None and self.starts.dim() == 2:
            object.__setattr__(self, "starts", self.starts.unsqueeze(-1))


@dataclass(frozen=True, eq=False)
class Rollouts:
    """What came out: the chosen rollouts first, then the forced ones.

    Parameters
    ----------
    actions
        Steps of shape (instances, rollouts, steps), padded with node 0.
    steps
        Number of steps of each rollout.
    log_likelihood
        Sum of the log-probabilities of each rollout's steps.
    cost
        Cost in network units, to be minimised.
    first_scored
        Whether first steps count in the log-likelihood.
    """

    actions: Tensor
    steps: Tensor
    log_likelihood: Tensor
    cost: Tensor
    first_scored: bool

    @classmethod
    def joined(cls, parts: Sequence[Rollouts]) -> Rollouts:
        """Put the rollouts of several calls side by side."""
        longest = max(part.actions.shape[2] for part in parts)
        padded = [pad(part.actions, (0, longest - part.actions.shape[2])) for part in parts]
        return cls(
            torch.cat(padded, dim=1),
            torch.cat([part.steps for part in parts], dim=1),
            torch.cat([part.log_likelihood for part in parts], dim=1),
            torch.cat([part.cost for part in parts], dim=1),
            parts[0].first_scored,
        )

    def some(self, part: slice) -> Rollouts:
        """Return some of the rollouts of each instance."""
        return Rollouts(
            self.actions[:, part],
            self.steps[:, part],
            self.log_likelihood[:, part],
            self.cost[:, part],
            self.first_scored,
        )


class DeadlineReached(Exception):  # noqa: N818 - not an error, but a signal
    """Raised where patience ends, with the rollouts that were complete by then."""

    found: Rollouts | None = None


class Engine(ABC):
    """Constructs rollouts, and differentiates their log-likelihoods."""

    name: str

    @property
    def threads(self) -> int:
        """Number of threads that it uses."""
        return torch.get_num_threads()

    @abstractmethod
    def rollout(
        self, batch: Batch, inputs: DecoderInputs, decoding: Decoding, request: Request
    ) -> Rollouts:
        """Construct rollouts, without a graph.

        Raises
        ------
        DeadlineReached
            If the request's patience ends first.
        """

    @abstractmethod
    def weighted_log_likelihood(
        self,
        batch: Batch,
        inputs: DecoderInputs,
        decoding: Decoding,
        rollouts: Rollouts,
        weights: Tensor,
        patience: Patience = ENDLESS,
    ) -> Tensor:
        """Sum of weights times log-likelihoods, joined to torch's autograd.

        Parameters
        ----------
        rollouts
            What `rollout` returned for the same inputs.
        weights
            Weight of each rollout, shape (instances, rollouts).
        patience
            When the backward pass gives up, too.

        Returns
        -------
        Tensor
            A scalar whose gradient flows to the inputs and to the adapter.
        """

    @abstractmethod
    def given_log_likelihood(
        self,
        batch: Batch,
        inputs: DecoderInputs,
        decoding: Decoding,
        actions: Tensor,
        weights: Tensor,
        first_scored: bool,
    ) -> tuple[Tensor, Tensor]:
        """Score given rollouts, joined to torch's autograd.

        Parameters
        ----------
        actions
            Steps of shape (instances, rollouts, steps), padded with node 0.
        weights
            Weight of each rollout, not zero, shape (instances, rollouts).
        first_scored
            Whether first steps count; without, their probability is 1.

        Returns
        -------
        tuple of Tensor
            The sum of weights times log-likelihoods, whose gradient flows to the
            inputs and to the adapter, and the log-likelihoods themselves.
        """
