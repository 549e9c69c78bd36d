"""The signals by which a user ends a program."""

from __future__ import annotations

import signal


def ending_signals() -> list[signal.Signals]:
    """Return Ctrl-C, a polite kill, and a terminal's end unless the program shall survive it."""
    found = [signal.SIGINT, signal.SIGTERM]
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:  # as nohup sets it
        found.append(hangup)
    return found
