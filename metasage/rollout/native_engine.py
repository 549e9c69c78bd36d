"""The fast engine: C++ kernels on the CPU, with gradients in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

import metasage._native as _native
from metasage.errors import NotFinite
from metasage.problems.batch import Batch
from metasage.rollout.interface import (
    Adapter,
    DeadlineReached,
    DecoderInputs,
    Decoding,
    EdgeBonus,
    Engine,
    Request,
    Rollouts,
)
from metasage.runtime.interrupts import ENDLESS, Patience

WIDTHS = (64, 128)
HEADS = 8
PROBLEMS = ("tsp", "cvrp", "pctsp", "op")

_BIAS_KINDS = {"outside": 1, "inside": 2}

# Inputs of the decoder whose gradients the kernel computes.
_DIFFERENTIABLE = (
    "keys",
    "values",
    "pointers",
    "query_last",
    "query_first",
    "query_scalar",
    "query_start",
    "combine_weight",
    "combine_bias",
    "glimpse_locality",
    "pointer_locality",
)
_ADAPTER = ("w1", "b1", "w2", "b2")


class NativeEngine(Engine):
    """Rollouts in C++: nothing of size rollouts x nodes is ever stored.

    Parameters
    ----------
    threads
        Number of threads; 0 for as many as torch uses.
    """

    name = "native"

    def __init__(self, threads: int = 0) -> None:
        self._threads = threads or torch.get_num_threads()

    @property
    def threads(self) -> int:  # noqa: D102
        return self._threads

    def rollout(  # noqa: D102
        self, batch: Batch, inputs: DecoderInputs, decoding: Decoding, request: Request
    ) -> Rollouts:
        sums = request.eta_sums
        centre = request.centre
        found = _native.rollout(
            **_decoder_arguments(batch, inputs, decoding),
            greedy=decoding.greedy,
            seeds=request.seeds.numpy().view(np.uint64),
            rollouts=request.rollouts,
            rollout_offset=request.offset,
            starts=None if request.starts is None else _int32(request.starts),
            forced=None if request.forced is None else _int32(request.forced),
            forced_first_scored=request.starts is None,
            eta_sums=None
            if sums is None
            else tuple(total.numpy() for total in (sums.by_cost, sums.plain, sums.forced)),
            centre=(np.zeros(batch.num_instances) if centre is None else centre.double().numpy()),
            threads=self.threads,
            seconds_left=request.patience.seconds_left,
            stopped=request.patience.stopped,
        )
        if not found["finished"]:
            raise DeadlineReached
        if not np.isfinite(found["log_likelihood"]).all():
            raise NotFinite("the network has no probabilities for some rollouts.")
        return Rollouts(
            torch.from_numpy(found["actions"]).long(),
            torch.from_numpy(found["steps"]).long(),
            torch.from_numpy(found["log_likelihood"]),
            torch.from_numpy(found["cost"]),
            first_scored=request.starts is None,
        )

    def weighted_log_likelihood(  # noqa: D102
        self,
        batch: Batch,
        inputs: DecoderInputs,
        decoding: Decoding,
        rollouts: Rollouts,
        weights: Tensor,
        patience: Patience = ENDLESS,
    ) -> Tensor:
        total: Tensor = _WeightedLogLikelihood.apply(  # type: ignore[no-untyped-call]
            (batch, inputs, decoding, rollouts, weights, patience, self.threads),
            *_differentiable(inputs, decoding),
        )
        return total

    def given_log_likelihood(  # noqa: D102
        self,
        batch: Batch,
        inputs: DecoderInputs,
        decoding: Decoding,
        actions: Tensor,
        weights: Tensor,
        first_scored: bool,
    ) -> tuple[Tensor, Tensor]:
        found: tuple[Tensor, Tensor] = _GivenLogLikelihood.apply(  # type: ignore[no-untyped-call]
            (batch, inputs, decoding, actions, weights, first_scored, self.threads),
            *_differentiable(inputs, decoding),
        )
        return found


class _WeightedLogLikelihood(torch.autograd.Function):
    """Joins the kernel's gradients to autograd; the value itself is known already."""

    @staticmethod
    def forward(ctx: Any, context: tuple[Any, ...], *tensors: Tensor | None) -> Tensor:
        ctx.context = context
        rollouts: Rollouts = context[3]
        weights: Tensor = context[4]
        return (rollouts.log_likelihood.to(weights.dtype) * weights).sum()

    @staticmethod
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor | None, ...]:
        batch, inputs, decoding, rollouts, weights, patience, threads = ctx.context
        found = _native.backward(
            **_decoder_arguments(batch, inputs, decoding),
            actions=_int32(rollouts.actions),
            steps=_int32(rollouts.steps),
            weights=_float32(weights * scale),
            first_scored=rollouts.first_scored,
            threads=threads,
            seconds_left=patience.seconds_left,
            stopped=patience.stopped,
        )
        if not found["finished"]:
            raise DeadlineReached
        return (None, *_gradients(found))


class _GivenLogLikelihood(torch.autograd.Function):
    """Scores and differentiates in one pass, as the weights are known before."""

    @staticmethod
    def forward(
        ctx: Any, context: tuple[Any, ...], *tensors: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        batch, inputs, decoding, actions, weights, first_scored, threads = context
        found = _native.backward(
            **_decoder_arguments(batch, inputs, decoding),
            actions=_int32(actions),
            steps=_int32(_steps(batch, actions)),
            weights=_float32(weights),
            first_scored=first_scored,
            threads=threads,
        )
        ctx.gradients = _gradients(found)
        log_likelihood = torch.from_numpy(found["log_likelihood"])
        ctx.mark_non_differentiable(log_likelihood)
        return (log_likelihood.to(weights.dtype) * weights).sum(), log_likelihood

    @staticmethod
    def backward(ctx: Any, scale: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        return (None, *(None if g is None else g * scale for g in ctx.gradients))


def _differentiable(inputs: DecoderInputs, decoding: Decoding) -> list[Tensor | None]:
    adapter = decoding.adapter_of(inputs)
    tensors = [getattr(inputs, name) for name in _DIFFERENTIABLE]
    return tensors + [getattr(adapter, name, None) for name in _ADAPTER]


def _gradients(found: dict[str, Any]) -> list[Tensor | None]:
    arrays = (found.get(name) for name in (*_DIFFERENTIABLE, *_ADAPTER))
    return [None if array is None else torch.from_numpy(array) for array in arrays]


def _steps(batch: Batch, actions: Tensor) -> Tensor:
    """Count the steps of given rollouts, which end at their last customer or right after."""
    if not batch.problem.has_depot:
        return torch.full(actions.shape[:2], actions.shape[2])
    places = torch.arange(1, actions.shape[2] + 1)
    last = (places * (actions > 0)).amax(-1)
    return last + 1 if batch.problem.single_tour else last


def _decoder_arguments(batch: Batch, inputs: DecoderInputs, decoding: Decoding) -> dict[str, Any]:
    bias, adapter = decoding.bias, decoding.adapter_of(inputs)
    arrays = {
        name: None if (tensor := getattr(inputs, name)) is None else _float32(tensor)
        for name in _DIFFERENTIABLE
    }
    return (
        arrays
        | {
            "problem": batch.problem.name,
            "heads": inputs.heads,
            "clip": inputs.clip,
            "adapter": None if adapter is None else _adapter_arrays(adapter),
            "adapter_place": "after" if adapter is None else adapter.place,
            "skip": inputs.skip,
            "locality_inside": inputs.locality_inside,
            "unit": _float32(batch.unit) if inputs.has_locality else None,
            "coords": _float32(batch.coords),
            "fields": {name: field.contiguous().numpy() for name, field in batch.fields.items()},
            "bias_kind": 0 if bias is None else _BIAS_KINDS[bias.kind],
            "bias_strength": 0.0 if bias is None else bias.strength,
            "temperature": decoding.temperature,
            "neighbours": decoding.neighbours,
        }
        | _bonus_arrays(decoding.bonus)
    )


def _bonus_arrays(bonus: EdgeBonus | None) -> dict[str, Any]:
    if bonus is None:
        return {}
    return {
        "edge_sources": _int32(bonus.sources),
        "edge_targets": _int32(bonus.targets),
        "edge_bonuses": _float32(bonus.values),
    }


def _adapter_arrays(adapter: Adapter) -> tuple[Any, ...]:
    return tuple(_float32(getattr(adapter, name)) for name in _ADAPTER)


def _float32(tensor: Tensor) -> Any:
    return tensor.detach().to(torch.float32).contiguous().numpy()


def _int32(tensor: Tensor) -> Any:
    return tensor.to(torch.int32).contiguous().numpy()
