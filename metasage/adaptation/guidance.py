"""Guided exploration: a locality bias and a temperature, each on a schedule."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from metasage.adaptation.method import Strategy
from metasage.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

    from metasage.adaptation.task import Task
    from metasage.adaptation.update import Update
    from metasage.rollout.interface import Decoding, LocalityBias

# Size of the instances that networks are usually trained on, where a strength is itself.
_TRAINING_SIZE = 100


@dataclass(frozen=True)
class Geometric:
    """A positive value that changes by a constant factor.

    Parameters
    ----------
    start, end
        Value at the start and at the end; both positive.
    """

    start: float
    end: float

    def __post_init__(self) -> None:
        if not (self.start > 0 and self.end > 0):
            raise InputError(f"a schedule from {self.start} to {self.end} is not understood.")

    def at(self, progress: float) -> float:
        """Value after a share of the search, which is held at its ends."""
        return float(self.start * (self.end / self.start) ** min(1.0, max(0.0, progress)))


@dataclass(frozen=True)
class BiasSchedule:
    """A locality bias on a schedule.

    Parameters
    ----------
    kind
        ``outside`` (the paper's ``u - alpha d``) or ``inside`` (the published
        code's ``d ** alpha`` within tanh); see `LocalityBias`.
    alpha
        Schedule of its strength.
    by_density
        Whether the strength grows with the square root of the number of nodes,
        as distances between neighbours shrink.
    """

    kind: Literal["outside", "inside"]
    alpha: Geometric
    by_density: bool = False

    def at(self, progress: float, size: int) -> LocalityBias:
        """Bias after a share of the search on an instance of some size."""
        from metasage.rollout.interface import LocalityBias

        factor = math.sqrt(size / _TRAINING_SIZE) if self.by_density else 1.0
        return LocalityBias(self.kind, self.alpha.at(progress) * factor)


@dataclass(frozen=True)
class Guide:
    """Temperature and bias of each iteration.

    Parameters
    ----------
    temperature, bias
        Their schedules; no bias for None.
    horizon
        Iterations over which they run, if not over the planned ones.
    """

    temperature: Geometric = Geometric(1.0, 1.0)
    bias: BiasSchedule | None = None
    horizon: int | None = None

    def decoding(self, task: Task, iteration: int, progress: float) -> Decoding:
        """Say how choices are made in an iteration."""
        if self.horizon is not None:
            progress = iteration / self.horizon
        bias = None if self.bias is None else self.bias.at(progress, task.instance.size)
        return replace(task.decoding, temperature=self.temperature.at(progress), bias=bias)


UNGUIDED = Guide()
"""Choices as the policy makes them."""


class Guided(Strategy):
    """A strategy that follows a guide and imitates a solution.

    Attributes
    ----------
    guide
        Temperature and bias of its samples.
    update
        Settings of its update.
    target
        Steps of the solution to imitate, if there is one.
    """

    guide: Guide
    update: Update
    target: Tensor | None
