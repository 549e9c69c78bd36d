"""Processes of our own that talk to the one that started them over pipes."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO


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
