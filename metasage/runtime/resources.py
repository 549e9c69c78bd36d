"""What there is to compute with: the C++ extension, slow modules, cores, memory."""

from __future__ import annotations

import importlib
import math
import os
import sys
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from metasage.runtime.timing import WHILE_WAITING

_CPU_MAX = Path("/sys/fs/cgroup/cpu.max")

_loaders: dict[str, threading.Thread] = {}


def is_built() -> bool:
    """Whether the C++ extension is there, that is whether there was a compiler."""
    return find_spec("metasage._native") is not None


def load(
    module: str, deadline: float | None = None, stopped: Callable[[], bool] = lambda: False
) -> bool:
    """Import a module; say whether it is there.

    Loading cannot be stopped. Where nobody wants to wait any longer it goes on in a
    thread of its own.

    Parameters
    ----------
    module
        Name of the module.
    deadline
        Time of `time.monotonic` until which to wait; None for as long as it takes.
    stopped
        Asked now and then whether to wait no longer.
    """
    begin_to_load(module)
    loader = _loaders.get(module)
    while loader is not None and loader.is_alive():
        if stopped() or (deadline is not None and time.monotonic() > deadline):
            return False
        loader.join(WHILE_WAITING)
    importlib.import_module(module)
    return True


def begin_to_load(*modules: str) -> None:
    """Let threads of their own import modules, for those who will need them."""
    for module in modules:
        if module not in sys.modules and module not in _loaders:
            _loaders[module] = threading.Thread(target=_try_to_import, args=(module,), daemon=True)
            _loaders[module].start()


def is_loaded(module: str) -> bool:
    """Whether a module is there, and not just being loaded by a thread of `load`."""
    return module in sys.modules and not any(thread.is_alive() for thread in _loaders.values())


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


def _try_to_import(module: str) -> None:
    try:
        importlib.import_module(module)
    except Exception:  # the caller imports it once more, and hears of it
        return
