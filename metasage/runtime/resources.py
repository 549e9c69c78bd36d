"""What there is to compute with: the C++ extension, cores, memory."""

from __future__ import annotations

import math
import os
import sys
from importlib.util import find_spec
from pathlib import Path

_CPU_MAX = Path("/sys/fs/cgroup/cpu.max")


def is_built() -> bool:
    """Whether the C++ extension is there, that is whether there was a compiler."""
    return find_spec("metasage._native") is not None


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not everywhere
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min(cores, _quota()))


def free_memory() -> float:
    """Bytes of memory that are free now."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            rows = dict(line.split(":", 1) for line in file)
        return 1024.0 * int(rows["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def _quota() -> int:
    """Return the cores that a container may use at once, which affinity does not tell."""
    try:
        quota, period = _CPU_MAX.read_text(encoding="ascii").split()
        return math.ceil(int(quota) / int(period))
    except (OSError, ValueError):  # none, or "max"
        return sys.maxsize
