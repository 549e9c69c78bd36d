"""Entry point: from the first moment on, an interrupt ends the program quietly."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType

from metasage.runtime.interrupts import end_work, ending_signals
from metasage.runtime.started import STARTED as _STARTED  # noqa: F401 - the clock starts here
from metasage.runtime.timing import REPEATED_AFTER


def _interrupt(signum: int, frame: FrameType | None) -> None:
    """Ask what is under way to end, or else raise."""
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
    # A shell starts jobs in the background deaf to SIGINT; they shall listen, too.
    for number in ending_signals():
        signal.signal(number, _interrupt)
    sys.unraisablehook = _insist
    try:
        from metasage.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("metasage: interrupted.\n")
        code = 130
    sys.stdout.flush()
    sys.stderr.flush()
    # Not sys.exit: taking torch down would eat into the user's time limit.
    os._exit(code)


if __name__ == "__main__":
    main()
