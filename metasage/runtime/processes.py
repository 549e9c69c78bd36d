"""Processes of our own that talk to the one that started them over pipes."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import BinaryIO

from metasage.runtime.timing import BETWEEN_LOOKS


def command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of this package.

    Nothing is imported from the current folder, where a user's file may be called like a
    library.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def claim_output() -> BinaryIO:
    """Return standard output, for answers alone: what libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def leave_with_parent() -> None:
    """End this process soon after the one that started it, even if that was killed."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
