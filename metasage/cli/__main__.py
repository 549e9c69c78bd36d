"""Entry point: from the first moment on, an interrupt ends the program quietly."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType

from metasage.runtime.interrupts import INTERRUPTED, end_work, ending_signals
from metasage.runtime.processes import open_closed_streams
from metasage.runtime.started import STARTED as _STARTED  # noqa: F401 - the clock starts here
from metasage.runtime.timing import REPEATED_AFTER

_heard: list[int] = []


def _interrupt(signum: int, frame: FrameType | None) -> None:
    """Ask what is under way to end, or else raise."""
    _heard.append(signum)
    if not end_work():
        raise KeyboardInterrupt


def _insist(lost: sys.UnraisableHookArgs) -> None:
    """Interrupt once more: where Python cannot raise, as in a destructor, the first was lost."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        threading.Timer(REPEATED_AFTER, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(lost)


def main() -> None:
    """Run the command line of this process."""
    try:
        open_closed_streams()
        # A shell starts jobs in the background deaf to SIGINT; they shall listen, too.
        for number in ending_signals():
            signal.signal(number, _interrupt)
        sys.unraisablehook = _insist
        _leave(_run())
    except KeyboardInterrupt:  # after the last word
        os._exit(INTERRUPTED)


def _run() -> int:
    try:
        from metasage.cli.app import run

        return run(sys.argv[1:])
    except BaseException:
        # An interrupt in the middle of an import may come out as any error.
        if not _heard:
            raise
        with suppress(OSError):
            sys.stderr.write("metasage: interrupted.\n")
        return INTERRUPTED


def _leave(code: int) -> None:
    """End this process; whoever interrupts it now is too late."""
    for number in ending_signals():
        signal.signal(number, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a full disk, a closed pipe
            stream.flush()
    # Not sys.exit: taking torch down would eat into the user's time limit.
    os._exit(code)


if __name__ == "__main__":
    main()
