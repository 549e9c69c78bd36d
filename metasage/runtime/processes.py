"""Processes of our own that talk to the one that started them over pipes, and end with it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import BinaryIO

from metasage.runtime.interrupts import ending_signals
from metasage.runtime.timing import BETWEEN_LOOKS

# Of Linux: the signal that a process gets when the one that started it ends.
_SET_DEATH_SIGNAL = 1


def command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of this package.

    Nothing is imported from the current folder, where a user's file may be called like a
    library.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def start(
    module: str,
    *arguments: str,
    stdin: int | None = subprocess.PIPE,
    stdout: int | None = subprocess.PIPE,
    stderr: int | None = None,
    cwd: str | None = None,
) -> subprocess.Popen[bytes]:
    """Start a module of this package in a process that hears of nobody else.

    Ctrl-C and other signals that end programs are for this process, which ends the new one.

    Parameters
    ----------
    module, arguments
        What to run; before the arguments it gets the number of this process, for
        `leave_with_parent`.
    stdin, stdout, stderr, cwd
        As for `subprocess.Popen`.
    """
    with _signals_held_back():
        return subprocess.Popen(
            command(module, str(os.getpid()), *arguments),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=cwd,
        )


def start_program(program: Sequence[str], folder: str) -> subprocess.Popen[bytes]:
    """Start a program of others in a folder, silent, that ends with this process, too."""
    silent = subprocess.DEVNULL
    return start(
        "metasage.runtime.bound", *program, stdin=silent, stdout=silent, stderr=silent, cwd=folder
    )


def leave_with_parent(parent: int) -> None:
    """End this process with the one that started it, even if that was killed.

    Parameters
    ----------
    parent
        Number of the process that started this one.
    """
    with suppress(OSError, AttributeError):  # at once, where the system is Linux
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def claim_output() -> BinaryIO:
    """Return standard output, for answers alone: what libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def open_closed_streams() -> None:
    """Let standard streams that were closed lead nowhere.

    The next file to be opened would take their place, and what somebody prints would
    end up in it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free is this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 - kept open


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Start processes that signals do not reach; those for this one come after the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ending_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
