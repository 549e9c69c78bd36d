"""How Ctrl-C, SIGTERM and a closed terminal end a search, and nothing more."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from metasage.signals import ending_signals

_was_ended = False


class Interrupted(KeyboardInterrupt):
    """Raised where the search stands when the user wants it to end."""


def search_was_ended() -> bool:
    """Whether a search of this process was ended, so that its solution is being written."""
    return _was_ended


@contextmanager
def interruptible() -> Iterator[None]:
    """Let the user's signals end the search, and nothing more."""
    global _was_ended

    def interrupt(signum: int, frame: FrameType | None) -> None:
        raise Interrupted

    previous = {}
    try:
        for number in ending_signals():
            previous[number] = signal.signal(number, interrupt)
    except ValueError:  # not the main thread, which alone may handle signals
        pass
    try:
        yield
    except Interrupted:
        _was_ended = True
        raise
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
