"""A further process for PyVRP: `python -m metasage.improve.helper` is its inside."""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from metasage.child_process import claim_output, command, leave_with_parent
from metasage.problems.cvrp import CvrpInstance

# How long before the deadline a helper stops, so that its answer arrives in time,
# and how long it is waited for after it.
_MARGIN, _GRACE = 0.05, 0.1

Routes = Sequence[Sequence[int]]


class Helper:
    """A process that searches from given routes.

    It is started as a module, not by `multiprocessing`, which would run the
    user's script once more.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            command("metasage.improve.helper"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # The user's interrupt is for the process that started this one, which ends it.
            start_new_session=True,
        )
        self._thread: threading.Thread | None = None
        self._instance: CvrpInstance | None = None

    def start(self, instance: CvrpInstance, routes: Routes, deadline: float, seed: int) -> None:
        """Let it search until a time of `time.monotonic`."""
        self._deadline = deadline
        news = None if instance is self._instance else instance
        self._instance = instance
        # Clocks of processes may count from different times: tell it what is left.
        self._exchange((news, routes, deadline - time.monotonic(), time.time(), seed))

    def result(self) -> list[list[int]] | None:
        """Wait for its routes until shortly after the deadline; None if there are none."""
        assert self._thread is not None
        self._thread.join(max(0.0, self._deadline + _GRACE - time.monotonic()))
        return self._answers[0] if self._answers else None

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        if self._thread is not None:
            self._thread.join()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with contextlib.suppress(OSError):
                stream.close()
        self._process.wait()

    def _exchange(self, message: Any) -> None:
        """Send a message and wait for the answer, without holding up the caller."""
        previous, answers = self._thread, []

        def exchange() -> None:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            if previous is not None:
                previous.join()
            # A process that has ended has nothing to say.
            with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError):
                pickle.dump(message, self._process.stdin)
                self._process.stdin.flush()
                answers.append(pickle.load(self._process.stdout))

        self._answers: list[list[list[int]]] = answers
        self._thread = threading.Thread(target=exchange)
        self._thread.start()


def _work() -> None:
    leave_with_parent()
    output = claim_output()
    from metasage.improve.pyvrp_search import PyvrpSearch

    with contextlib.suppress(EOFError):
        while True:
            news, routes, left, asked, seed = pickle.load(sys.stdin.buffer)
            if news is not None:
                search = PyvrpSearch(news)
            deadline = time.monotonic() + left - (time.time() - asked) - _MARGIN
            best = [list(map(list, routes))]
            search.run(routes, deadline, None, seed, best.append)
            pickle.dump(best[-1], output)
            output.flush()


if __name__ == "__main__":
    _work()
