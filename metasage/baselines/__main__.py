"""A baseline in a process of its own: ``python -m metasage.baselines NAME``.

Deadline, seed and instance are read, pickled, from standard input; the routes of
each new best solution are written as one line of JSON.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import time

from metasage.baselines import get_baseline
from metasage.baselines.child import ChildBaseline


def main(name: str) -> None:
    """Search until the deadline."""
    baseline = get_baseline(name)
    assert isinstance(baseline, ChildBaseline)
    deadline, seed, instance = pickle.load(sys.stdin.buffer)

    def offer(routes: list[list[int]]) -> None:
        sys.stdout.write(json.dumps(routes) + "\n")
        sys.stdout.flush()

    baseline.search_here(instance, deadline - time.time(), seed, offer)
    # Taking large libraries down would eat into the time limit.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
