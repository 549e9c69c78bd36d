"""Numbers as people and JSON readers expect them."""

from __future__ import annotations

import math
from numbers import Integral, Real

from metasage.errors import InputError


def plain(value: float) -> int | float:
    """Return a whole number as an int, so that it is written without a point."""
    return int(value) if float(value).is_integer() else float(value)


def kind_of(value: object) -> str:
    """Name the type of what a user gave, with its article."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def require_seed(seed: int) -> None:
    """Complain about a seed that is not a whole number in range."""
    if not _is_whole(seed) or not 0 <= seed < 2**63:
        raise InputError(f"the seed is {seed} and must lie between 0 and 2**63 - 1.")


def require_finite(name: str, value: float) -> None:
    """Complain about a number with which nothing can be computed."""
    if not math.isfinite(value):
        raise InputError(f"{name} is {value} and must be finite.")


def require_augmentation(copies: int) -> None:
    """Complain about a number of symmetric copies that there is not."""
    if copies not in (1, 2, 4, 8):
        raise InputError(f"augmentation is {copies} and must be 1, 2, 4 or 8.")


def require_time_limit(seconds: float) -> None:
    """Complain about a time limit in which nothing can be done."""
    if not isinstance(seconds, Real) or not 0 < float(seconds) < math.inf:
        raise InputError(f"the time limit is {seconds} and must be positive and finite.")


def require_count(name: str, value: int, least: int = 1) -> None:
    """Complain about what is not a whole number, or too small."""
    if not _is_whole(value) or value < least:
        raise InputError(f"{name} is {value} and must be a whole number of at least {least}.")


def require_threads(threads: int) -> None:
    """Complain about a number of threads that there cannot be."""
    if not _is_whole(threads) or threads < 0:
        raise InputError(f"threads is {threads} and must be a whole number, 0 for all cores.")


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
