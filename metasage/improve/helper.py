"""A second process for PyVRP: `python -m metasage.improve.helper` is its inside."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

from metasage.problems.cvrp import CvrpInstance

# How long before the deadline a helper stops, so that its answer arrives in time,
# and how long it is waited for after it.
_MARGIN, _GRACE = 0.05, 0.1

Routes = Sequence[Sequence[int]]


class Helper:
    """A process that searches from the same routes with another seed.

    It is started as a module, not by `multiprocessing`, which would run the
    user's script once more.

    Parameters
    ----------
    instance
        The instance.
    routes
        Feasible routes.
    deadline
        Time of `time.monotonic` until which it may search.
    seed
        Its seed.
    """

    def __init__(self, instance: CvrpInstance, routes: Routes, deadline: float, seed: int) -> None:
        self._deadline = deadline
        self._process = subprocess.Popen(
            [sys.executable, "-m", "metasage.improve.helper"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        # Clocks of processes may count from different times: tell it what is left.
        job = (instance, routes, deadline - time.monotonic(), time.time(), seed)
        self._answer = b""
        self._thread = threading.Thread(target=self._exchange, args=(pickle.dumps(job),))
        self._thread.start()

    def _exchange(self, job: bytes) -> None:
        self._answer = self._process.communicate(job)[0]

    def result(self) -> list[list[int]] | None:
        """Wait for its routes until shortly after the deadline; None if there are none."""
        self._thread.join(max(0.0, self._deadline - time.monotonic()) + _GRACE)
        if self._thread.is_alive() or self._process.returncode != 0:
            return None
        routes: list[list[int]] = pickle.loads(self._answer)
        return routes

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._thread.join()


def _work() -> None:
    # The user's interrupt is for the process that started this one, which ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    instance, routes, left, asked, seed = pickle.load(sys.stdin.buffer)
    deadline = time.monotonic() + left - (time.time() - asked) - _MARGIN
    from metasage.improve.pyvrp_search import PyvrpSearch

    best = [list(map(list, routes))]
    PyvrpSearch(instance).run(routes, deadline, None, seed, best.append)
    pickle.dump(best[-1], sys.stdout.buffer)


if __name__ == "__main__":
    _work()
