"""Values that change in the course of a search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from metasage.errors import InputError
from metasage.rollout.interface import LocalityBias

# Networks are trained at this size; nodes lie denser by the square root of the ratio.
_TRAINING_SIZE = 100


@dataclass(frozen=True)
class Geometric:
    """A value that goes from one to another by equal factors.

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
        factor = math.sqrt(size / _TRAINING_SIZE) if self.by_density else 1.0
        return LocalityBias(self.kind, self.alpha.at(progress) * factor)
