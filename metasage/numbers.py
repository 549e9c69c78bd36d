"""Numbers as people and JSON readers expect them."""

from __future__ import annotations

import math
from numbers import Integral, Real

from metasage.errors import InputError

# More than any machine has cores; each costs memory.
_MOST_THREADS = 1024


def plain(value: float) -> int | float:
    """Return a whole number as an int, so that it is written without a point."""
    return int(value) if float(value).is_integer() else float(value)


def kind_of(value: object) -> str:
    """Name the type of what a user gave, with its article."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def as_number(value: object) -> float | None:
    """Return a number of any kind as Python's own; None if it is none, or not a number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return None if math.isnan(number) else number


def require_seed(seed: int) -> int:
    """Return a seed; complain about one that is not a whole number in range."""
    if not _is_whole(seed) or not 0 <= seed < 2**63:
        raise InputError(f"the seed is {seed} and must lie between 0 and 2**63 - 1.")
    return int(seed)


def require_finite(name: str, value: float) -> float:
    """Return a number; complain about one with which nothing can be computed."""
    number = as_number(value)
    if number is None or not math.isfinite(number):
        raise InputError(f"{name} is {value} and must be finite.")
    return number


def require_time_limit(seconds: float) -> float:
    """Return a time limit; complain about one in which nothing can be done."""
    number = as_number(seconds)
    if number is None or not 0 < number < math.inf:
        raise InputError(f"the time limit is {seconds} and must be positive and finite.")
    return number


def require_count(name: str, value: int, least: int = 1) -> int:
    """Return a whole number; complain about what is none, or too small."""
    if not _is_whole(value) or value < least:
        raise InputError(f"{name} is {value} and must be a whole number of at least {least}.")
    return int(value)


def require_threads(threads: int) -> int:
    """Return a number of threads; complain about one that there cannot be."""
    if not _is_whole(threads) or threads < 0:
        raise InputError(f"threads is {threads} and must be a whole number, 0 for all cores.")
    if threads > _MOST_THREADS:
        raise InputError(f"threads is {threads} and must be at most {_MOST_THREADS}.")
    return int(threads)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
