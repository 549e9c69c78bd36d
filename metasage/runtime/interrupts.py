"""How work ends early: at a deadline, or because its user wants it to.

A signal raises a flag, and the work looks at it.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType

INTERRUPTED = 130
"""Exit code of a program that was told to stop."""


class _Flag:
    """Not an event of `threading`: whose lock a second signal would wait for, for ever."""

    def __init__(self, raised: bool) -> None:
        self.raised = raised

    def is_raised(self) -> bool:
        return self.raised


_flags: list[_Flag] = []


@dataclass(frozen=True)
class Patience:
    """When to give up: at a deadline, or when somebody says so.

    Kernels look at it several times in a tenth of a second.

    Parameters
    ----------
    deadline
        Time of `time.monotonic`; None for none.
    stopped
        Asked now and then whether to give up; None for never.
    """

    deadline: float | None = None
    stopped: Callable[[], bool] | None = None

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the deadline, negative after it; None where there is none."""
        return None if self.deadline is None else self.deadline - time.monotonic()

    def is_over(self) -> bool:
        """Whether to give up now."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            return True
        return self.stopped is not None and self.stopped()

    def until(self, deadline: float | None) -> Patience:
        """Return the same with an earlier deadline; a later one changes nothing."""
        known = [moment for moment in (self.deadline, deadline) if moment is not None]
        return replace(self, deadline=min(known, default=None))


ENDLESS = Patience()
"""Gives up at nothing but an error."""


class Interrupted(KeyboardInterrupt):
    """Raised by work that is of no use unless it is complete."""


def end_work() -> bool:
    """Ask all interruptible work of this process to end; say whether there is any."""
    for flag in _flags:
        flag.raised = True
    return bool(_flags)


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C ask the block to end, instead of tearing it apart.

    Yields the question whether the user did. Handlers that a program has installed are
    left alone; they may call `end_work`, as those of the command line do.
    """
    # What came while an enclosing block was at work is meant for this one, too.
    flag = _Flag(any(outer.raised for outer in _flags))
    _flags.append(flag)
    takes_over = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if takes_over:
        signal.signal(signal.SIGINT, _ask)
    try:
        yield flag.is_raised
    finally:
        if takes_over:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        _flags.remove(flag)


def ending_signals() -> list[signal.Signals]:
    """Return Ctrl-C, a polite kill, and a terminal's end unless the program shall survive it."""
    found = [signal.SIGINT, signal.SIGTERM]
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:  # as nohup sets it
        found.append(hangup)
    return found


def _ask(signum: int, frame: FrameType | None) -> None:
    end_work()
