"""Lengths as integers, for solvers that know nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from metasage.problems import Instance
from metasage.problems.metric import EXACT_2D, METRICS, Floats, Indices

AnyInstance = TypeVar("AnyInstance", bound=Instance)


def length_unit(lengths: Floats, resolution: int) -> float:
    """Return the integer units in one unit of length.

    Parameters
    ----------
    lengths
        Lengths of all edges.
    resolution
        Units that make up the longest edge where lengths are not whole.
    """
    if bool((lengths == np.rint(lengths)).all()):
        return 1.0
    return resolution / float(lengths.max())


def nearest_units(values: Floats, unit: float) -> Indices:
    """Return values in whole units, rounded to the nearest."""
    return np.rint(values * unit).astype(np.int64)


def units_above(values: Floats, unit: float) -> Indices:
    """Return values in whole units, never fewer than there are: for what is bounded above."""
    return np.ceil(values * unit - 1e-6).astype(np.int64)


def units_below(values: Floats, unit: float) -> Indices:
    """Return values in whole units, never more than there are: for what is bounded below."""
    return np.floor(values * unit + 1e-6).astype(np.int64)


def with_whole_lengths(instance: AnyInstance, resolution: int) -> tuple[AnyInstance, float]:
    """Return an instance whose edges have whole lengths, and the units in one unit of length."""
    if instance.metric.is_integral:
        return instance, 1.0
    if instance.metric.measure is EXACT_2D.measure and instance.coords is not None:
        # Places on a grid make small files, where a matrix of lengths would not.
        unit = resolution / (float(np.ptp(instance.coords, axis=0).max()) or 1.0)
        coords = np.rint(instance.coords * unit)
        return replace(instance, coords=coords, metric=METRICS["EUC_2D"]), unit
    lengths = instance.length_matrix()
    unit = length_unit(lengths, resolution)
    matrix = nearest_units(lengths, unit).astype(np.float64)
    return replace(instance, matrix=matrix, metric=METRICS["EXPLICIT"]), unit
