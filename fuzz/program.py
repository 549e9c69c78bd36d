"""The command line in a process of its own, and what it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

# Every process that a program starts inherits it.
_MARK = "METASAGE_FUZZ"

# The command line, with a line in a file as soon as a search begins.
_LAUNCH = """
import logging, sys
logging.raiseExceptions = False  # where the disk is full
logging.basicConfig(filename=sys.argv.pop(1), level=logging.INFO)
logging.getLogger("metasage").setLevel(logging.INFO)
from metasage.cli.__main__ import main
main()
"""

# Seconds in which a process that was told to end must be gone.
SOON = 15.0


class Program:
    """A command that runs.

    Parameters
    ----------
    arguments
        What follows ``metasage``.
    folder
        Where it runs, and where its words are kept.
    prepare
        Called in the new process before it begins.

    Attributes
    ----------
    errors
        What it wrote to standard error, once it has ended.
    """

    def __init__(
        self, arguments: Sequence[object], folder: Path, prepare: Callable[[], None] | None = None
    ) -> None:
        self.arguments = [str(argument) for argument in arguments]
        self._mark = uuid.uuid4().hex
        self._log = folder / f"log-{self._mark}.txt"
        self.began = time.monotonic()

        def begin() -> None:
            # Whoever attacks under nohup must not make the program deaf.
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            if prepare is not None:
                prepare()

        # A pipe takes some pages of text while nobody reads it.
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", _LAUNCH, str(self._log), *self.arguments],
            cwd=folder,
            env=os.environ | {_MARK: self._mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=begin,
        )
        self.errors = ""

    @property
    def seconds(self) -> float:
        """Seconds since its start."""
        return time.monotonic() - self.began

    def wait_for_search(self, patience: float = 60.0) -> None:
        """Wait until a search has begun."""
        while self.seconds < patience and self.process.poll() is None:
            if self._log.exists() and self._log.stat().st_size:
                return
            time.sleep(0.005)

    def end(self, patience: float = SOON) -> int:
        """Wait for its end, and return its exit code; it must not hang nor leave processes."""
        try:
            code = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"it did not end: {self}") from None
        end = time.monotonic() + SOON
        while (left := self._left()) and time.monotonic() < end:
            time.sleep(0.05)
        assert not left, f"processes are left: {left} {self}"
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read().decode(errors="replace")
        assert "Traceback" not in self.errors, f"{self.errors} {self}"
        return code

    def signalled(self, signum: int, seconds: float) -> int:
        """Send a signal so many seconds after the start, and return the exit code."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, seconds - self.seconds))
        self.process.send_signal(signum)
        return self.end()

    def _left(self) -> list[int]:
        """Return the processes that it started and that are still there (Linux alone)."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if f"{_MARK}={self._mark}".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
        return found

    def __str__(self) -> str:
        return f"[metasage {' '.join(self.arguments)}]"


def run(arguments: Sequence[object], folder: Path, patience: float = 60.0) -> int:
    """Run a command to its end, and return its exit code."""
    return Program(arguments, folder).end(patience)


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep cores busy with other things for as long as the block runs."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
