"""Numbers as people and JSON readers expect them."""

from __future__ import annotations


def plain(value: float) -> int | float:
    """Return a whole number as an int, so that it is written without a point."""
    return int(value) if float(value).is_integer() else float(value)
