"""How Ctrl-C and SIGTERM end a search, and nothing more."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(KeyboardInterrupt):
    """Raised where the search stands when the user wants it to end."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the search, and nothing more."""

    def interrupt(signum: int, frame: FrameType | None) -> None:
        raise Interrupted

    previous = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            previous[number] = signal.signal(number, interrupt)
    except ValueError:  # not the main thread, which alone may handle signals
        pass
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
