"""First nodes of rollouts: which a policy likes most, and which can be gone to at all."""

from __future__ import annotations

import torch
from torch import Tensor

from metasage.errors import NotFinite
from metasage.problems.batch import Batch
from metasage.rollout.interface import DecoderInputs, Decoding
from metasage.rollout.torch_engine import StepDecoder


@torch.no_grad()
def likeliest_starts(batch: Batch, inputs: DecoderInputs, count: int) -> Tensor:
    """Return the most probable first nodes, shape (instances, count).

    Where fewer are allowed they go round.
    """
    log_p = StepDecoder(batch, inputs, Decoding(), 1).log_probabilities().squeeze(1)
    if log_p.isnan().any():
        raise NotFinite("the network has no probabilities for the first step.")
    allowed = int(torch.isfinite(log_p).sum(dim=1).min())
    order = log_p.argsort(dim=1, descending=True, stable=True)
    return order[:, torch.arange(count, device=order.device) % allowed]


def reachable_starts(batch: Batch, starts: Tensor) -> Tensor:
    """Replace first nodes that the rules forbid by others, in turn.

    Where no customer is allowed, the depot is left.

    Parameters
    ----------
    batch
        The instances.
    starts
        First nodes, shape (instances, rollouts).
    """
    allowed = ~batch.problem.rules(batch, 1).forbidden().squeeze(1)
    if batch.problem.has_depot:
        allowed[:, 0] = False
    fits = allowed.gather(1, starts)
    if bool(fits.all()):
        return starts
    order = allowed.to(torch.int8).argsort(dim=1, descending=True, stable=True)
    places = ((~fits).cumsum(dim=1) - 1).clamp(min=0)
    others = order.gather(1, places % allowed.sum(dim=1, keepdim=True).clamp(min=1))
    return starts.where(fits, others)
