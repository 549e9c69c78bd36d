"""A baseline in a process of its own: ``python -m metasage.baselines PARENT NAME``.

Deadline, seed and instance are read, pickled, from standard input; the routes of
each new best solution are written as one line of JSON.
"""

from __future__ import annotations

import os
import pickle
import sys
import time

from metasage.baselines import get_baseline
from metasage.baselines.child import Reporter
from metasage.runtime.processes import claim_output, leave_with_parent


def main(parent: str, name: str) -> None:
    """Search until the deadline."""
    leave_with_parent(int(parent))
    output = claim_output()
    deadline, seed, instance = pickle.load(sys.stdin.buffer)
    reporter = Reporter(instance, max(0.0, deadline - time.time()), output)
    get_baseline(name).search(instance, reporter, seed)
    # Taking large libraries down would eat into the time limit.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
