"""Demands as whole numbers, so that loads add up exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from metasage.problems.base import TOLERANCE
from metasage.problems.metric import Floats, Indices

# Largest capacity of rollouts: load and demand add up below 2**24, where float32 is exact.
MOST_IN_FLOAT32 = 2**23

MOST_IN_INTEGERS = 2**40
"""Largest capacity for searches that count in 64-bit integers."""

# Fractions of the capacity are recognised up to this denominator.
_LARGEST_DENOMINATOR = 10_000

# Relative error of numbers that went through float32, and of those that did not.
_SINGLE, _DOUBLE = 1e-7, 1e-12


def exact_units(
    demand: Floats, capacity: float, most: int = MOST_IN_FLOAT32
) -> tuple[Indices, int]:
    """Express demands and capacity in whole units.

    Whole and decimal numbers, and fractions of the capacity with a common
    denominator, come out exactly. What does not, or would be too large, is measured
    in fine units, demands rounded up: a vehicle is then never overloaded.

    Parameters
    ----------
    demand, capacity
        As in the instance.
    most
        Largest capacity in units.
    """
    for units, room in _candidates(demand, capacity):
        common = int(np.gcd.reduce(units, initial=room))
        if room // common <= most:
            return units // common, room // common
    units = np.ceil(demand * (MOST_IN_FLOAT32 / capacity) - 1e-6).astype(np.int64)
    return units, MOST_IN_FLOAT32


def load_limit(demand: Floats, capacity: float) -> float:
    """Return what a vehicle may carry, with slack for how the demands were rounded."""
    return capacity * (1 + (10 * _SINGLE if _is_single(demand) else TOLERANCE))


def _candidates(demand: Floats, capacity: float) -> list[tuple[Indices, int]]:
    """Return demands and capacity in units that are exact, the plainest first."""
    found = []
    for factor in (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000):
        scaled = np.append(demand, capacity) * factor
        units = np.rint(scaled)
        if units.max() < 2**53 and np.allclose(scaled, units, rtol=_DOUBLE, atol=1e-9):
            found.append((units[:-1].astype(np.int64), int(units[-1])))
            break
    share = demand / capacity
    denominator = _common_denominator(share)
    if denominator is not None:
        units = np.rint(share * denominator)
        error = np.abs(share - units / denominator)
        if (error <= (_SINGLE if _is_single(demand) else _DOUBLE) * share).all():
            found.append((units.astype(np.int64), denominator))
    return found


def _common_denominator(shares: Floats) -> int | None:
    """Return the least denominator of all, if there is one that is not too large."""
    common = 1
    for share in np.unique(shares):
        fraction = Fraction(float(share)).limit_denominator(_LARGEST_DENOMINATOR)
        common = math.lcm(common, fraction.denominator)
        if common > MOST_IN_FLOAT32:
            return None
    return common


def _is_single(demand: Floats) -> bool:
    """Whether demands are fractions that went through float32."""
    whole = bool((demand == np.rint(demand)).all())
    return not whole and bool((demand == demand.astype(np.float32)).all())
