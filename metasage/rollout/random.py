"""Random numbers that depend on nothing but seed, rollout and step."""

from __future__ import annotations

import torch
from torch import Tensor

_INCREMENT = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB


def uniforms(seeds: Tensor, rollouts: Tensor, step: int) -> Tensor:
    """Draw one number in [0, 1) for each instance and rollout at a step.

    Parameters
    ----------
    seeds
        Stream of each instance, int64 of shape (instances,).
    rollouts
        Numbers of the rollouts in the stream, int64 of shape (rollouts,).
    step
        Step of the rollouts.
    """
    counter = _mix((rollouts << 32) | step)
    bits = _mix(seeds.unsqueeze(1) + counter.unsqueeze(0))
    return _shift(bits, 40).double() * 2.0**-24


def instance_seeds(seed: int, count: int, first: int = 0) -> Tensor:
    """Return a stream for each of several instances."""
    return _mix(_mix(torch.tensor([seed])) + torch.arange(first, first + count))


def _signed(bits: int) -> int:
    return bits - 2**64 if bits >= 2**63 else bits


def _shift(x: Tensor, by: int) -> Tensor:
    """Shift right without the sign, which int64 would drag along."""
    return (x >> by) & ((1 << (64 - by)) - 1)


def _mix(x: Tensor) -> Tensor:
    """Scramble 64 bits (the finaliser of splitmix64, Steele et al. 2014)."""
    x = x + _signed(_INCREMENT)
    x = (x ^ _shift(x, 30)) * _signed(_FIRST)
    x = (x ^ _shift(x, 27)) * _signed(_SECOND)
    return x ^ _shift(x, 31)
