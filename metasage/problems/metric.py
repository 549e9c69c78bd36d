"""How the length of an edge is measured, in the units of the original data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from metasage.errors import InputError

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Rounding = Literal["nearest", "up", "down", "none"]

# Relative difference between the two directions of an edge that is none.
_NOISE = 1e-9

ROUNDINGS: dict[Rounding, Callable[[Floats], Floats]] = {
    "nearest": lambda d: np.floor(d + 0.5),
    "up": np.ceil,
    "down": np.floor,
    "none": lambda d: d,
}


def _euclidean(a: Floats, b: Floats) -> Floats:
    along, across = a[..., 0] - b[..., 0], a[..., 1] - b[..., 1]
    # Not np.hypot: sqrt of the sum is what every solver of the field computes,
    # and the last bit decides a rounding now and then.
    return np.asarray(np.sqrt(along * along + across * across))


def _manhattan(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.abs(a - b).sum(axis=-1))


def _maximum(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.abs(a - b).max(axis=-1))


def _pseudo_euclidean(a: Floats, b: Floats) -> Floats:
    """TSPLIB's ATT: a tenth of the squared length, rounded and never down."""
    difference = a - b
    squares = difference * difference
    exact = np.sqrt((squares[..., 0] + squares[..., 1]) / 10.0)
    rounded = np.floor(exact + 0.5)
    return np.asarray(np.where(rounded < exact, rounded + 1.0, rounded))


def _radians(degrees_and_minutes: Floats) -> Floats:
    degrees = np.trunc(degrees_and_minutes)
    minutes = degrees_and_minutes - degrees
    # TSPLIB fixes this value of pi; a better one gives other tour lengths.
    return np.asarray(3.141592 * (degrees + 5.0 * minutes / 3.0) / 180.0)


def _geographical(a: Floats, b: Floats) -> Floats:
    """TSPLIB's GEO: kilometres on the sphere between DDD.MM coordinates."""
    a, b = _radians(a), _radians(b)
    q1 = np.cos(a[..., 1] - b[..., 1])
    q2 = np.cos(a[..., 0] - b[..., 0])
    q3 = np.cos(a[..., 0] + b[..., 0])
    cosine = np.clip(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3), -1.0, 1.0)
    return np.asarray(np.trunc(6378.388 * np.arccos(cosine) + 1.0))


@dataclass(frozen=True)
class Metric:
    """A rule that gives an edge its length.

    Parameters
    ----------
    name
        Name in TSPLIB's ``EDGE_WEIGHT_TYPE``.
    measure
        Length between two arrays of points; None where a matrix is given.
    rounding
        What is done to each single edge after that.
    """

    name: str
    measure: Callable[[Floats, Floats], Floats] | None
    rounding: Rounding

    @property
    def is_integral(self) -> bool:
        """Whether every edge has an integral length (a matrix never promises it)."""
        return self.measure is not None and (self.rounding != "none" or self.name in ("ATT", "GEO"))

    @property
    def has_no_shortcuts(self) -> bool:
        """Whether no detour is shorter than the edge itself; rounding may make it so."""
        return self.measure is not None and not self.is_integral

    def between(self, a: Floats, b: Floats) -> Floats:
        """Lengths between the points of two arrays that broadcast together."""
        assert self.measure is not None
        return ROUNDINGS[self.rounding](self.measure(a, b))

    def rounded(self, rounding: Rounding) -> Metric:
        """Return this metric with another rounding.

        Raises
        ------
        InputError
            If the rounding is a part of the metric itself.
        """
        if rounding not in ROUNDINGS:
            raise InputError(f"rounding '{rounding}' is not one of {', '.join(ROUNDINGS)}.")
        if self.name in ("ATT", "GEO", "EXPLICIT"):
            raise InputError(f"the lengths of {self.name} are fixed and cannot be rounded anew.")
        return Metric(self.name, self.measure, rounding)


EXACT_2D = Metric("EXACT_2D", _euclidean, "none")
EXPLICIT = Metric("EXPLICIT", None, "none")

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("EUC_2D", _euclidean, "nearest"),
        Metric("CEIL_2D", _euclidean, "up"),
        Metric("FLOOR_2D", _euclidean, "down"),
        EXACT_2D,
        Metric("MAN_2D", _manhattan, "nearest"),
        Metric("MAX_2D", _maximum, "nearest"),
        Metric("ATT", _pseudo_euclidean, "none"),
        Metric("GEO", _geographical, "none"),
        EXPLICIT,
    )
}


def without_noise(matrix: Floats) -> Floats:
    """Return a matrix that differs from its transpose by rounding alone as a symmetric one."""
    if np.array_equal(matrix, matrix.T) or not np.allclose(matrix, matrix.T, rtol=_NOISE, atol=0):
        return matrix
    return np.asarray((matrix + matrix.T) / 2)


def as_floats(values: Any) -> Floats:
    """Return the values as a read-only float64 array of their own."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
