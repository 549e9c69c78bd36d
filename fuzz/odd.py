"""Values that nobody expects."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np

NUMBERS: list[Any] = [
    0, -1, 1, 2, 7, 10**6, 10**9, 10**18, 10**30, 10**400, 0.5, 1.5, -0.1, 1e-300, 1e-9, 1e9,
    1e30, 1e300, math.nan, math.inf, -math.inf, True, False,
]  # fmt: skip
OTHERS: list[Any] = [
    None, "", "x", "nan", "1", b"x", [], [1], [[1]], {}, {"a": 1}, (), (1, 2), object(),
    np.int64(3), np.float32(2.5), np.zeros(3), "\x1b[2J", "ä" * 3000, "\ud800", "a:b", "/", "..",
]  # fmt: skip


def odd(random: Random) -> Any:
    """Draw a value, more often than not a number."""
    return random.choice(NUMBERS if random.random() < 0.6 else OTHERS)


def odd_text(random: Random) -> str:
    """Draw what somebody might type."""
    value = odd(random)
    while isinstance(value, bytes | np.ndarray) or type(value) is object:
        value = odd(random)
    if isinstance(value, int) and abs(value) > 10**100:
        return "9" * 400
    return str(value).replace("\ud800", "?").replace("\0", "?")


def odd_json(random: Random) -> Any:
    """Draw what a JSON file can hold."""
    value = odd(random)
    while isinstance(value, bytes | np.generic | np.ndarray) or type(value) is object:
        value = odd(random)
    return value
