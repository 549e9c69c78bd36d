"""Solvers that cannot be stopped run in a process of their own, which can."""

from __future__ import annotations

import json
import pickle
import queue
import subprocess
import threading
import time
from typing import IO

from metasage.baselines.base import Track
from metasage.problems import Instance, Solution
from metasage.runtime.processes import start
from metasage.runtime.timing import GRACE_SECONDS, GRACE_SHARE

DID_NOT_FINISH = "did not finish"
FAILED = "its process ended with an error."


class Reporter(Track):
    """The track inside the child: new best solutions are written down as JSON.

    Parameters
    ----------
    instance, seconds
        As for a track.
    output
        Where they are written.
    """

    def __init__(self, instance: Instance, seconds: float, output: IO[bytes]) -> None:
        super().__init__(instance, seconds, None)
        self.output = output

    def offer(self, solution: Solution) -> bool:  # noqa: D102
        is_better = super().offer(solution)
        if is_better:
            self.output.write(json.dumps(solution.routes).encode() + b"\n")
            self.output.flush()
        return is_better


def search_in_child(name: str, track: Track, seed: int) -> None:
    """Start a child, take in what it finds, and end it when the time is over.

    Parameters
    ----------
    name
        Name of the baseline.
    track
        Where solutions go.
    seed
        Seed of what is random.
    """
    process = start("metasage.baselines", name, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    assert process.stdout is not None
    lines: queue.Queue[bytes | None] = queue.Queue()
    threading.Thread(target=_forward, args=(process.stdout, lines), daemon=True).start()
    try:
        # The child's start counts, so it is told when to end, not for how long to run.
        pickle.dump((time.time() + track.left(), seed, track.instance), process.stdin)
        process.stdin.close()
        while (line := _next(lines, track)) is not None:
            track.offer(Solution(json.loads(line)))
        if process.wait() != 0:
            track.note = track.violation = FAILED
    except queue.Empty:
        track.was_ended = True
        if track.best is None:
            track.note = DID_NOT_FINISH
    except (BrokenPipeError, ValueError):
        track.note = track.violation = FAILED
    finally:
        process.kill()
        process.wait()


def _forward(stream: IO[bytes], lines: queue.Queue[bytes | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def _next(lines: queue.Queue[bytes | None], track: Track) -> bytes | None:
    """Wait for a line; None once the child is done, `queue.Empty` when its time is over."""
    patience = track.limit * (1 + GRACE_SHARE) + GRACE_SECONDS - track.seconds()
    return lines.get(timeout=max(0.0, patience))
