"""Ctrl-C and its like as a question that a loop asks when it can stop."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from metasage.signals import ending_signals


@contextmanager
def stop_politely() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether the user wants the loop to end."""
    asked = False

    def ask(signum: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True

    previous = {number: signal.signal(number, ask) for number in ending_signals()}
    try:
        yield lambda: asked
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
