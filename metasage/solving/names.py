"""Names that users choose among; nothing else is imported here."""

from __future__ import annotations

from typing import Literal, get_args

Improve = Literal["none", "final", "memetic"]
EngineName = Literal["auto", "native", "torch"]

IMPROVE: tuple[str, ...] = get_args(Improve)
"""Local search: not at all, after the network, or on its best rollouts, too."""

ENGINES: tuple[str, ...] = get_args(EngineName)
"""What constructs rollouts; ``auto`` takes the native engine wherever it can be used."""
