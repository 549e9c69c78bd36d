"""Modules that take long to load, under a time limit."""

from __future__ import annotations

import importlib
import sys
import threading
import time
from collections.abc import Callable

from metasage.runtime.timing import WHILE_WAITING

_loaders: dict[str, threading.Thread] = {}


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
    if module not in sys.modules and module not in _loaders:
        _loaders[module] = threading.Thread(target=_try_to_import, args=(module,), daemon=True)
        _loaders[module].start()
    loader = _loaders.get(module)
    while loader is not None and loader.is_alive():
        if stopped() or (deadline is not None and time.monotonic() > deadline):
            return False
        loader.join(WHILE_WAITING)
    importlib.import_module(module)
    return True


def is_loaded(module: str) -> bool:
    """Whether a module is there, and not just being loaded by a thread of `load`."""
    return module in sys.modules and not any(thread.is_alive() for thread in _loaders.values())


def _try_to_import(module: str) -> None:
    try:
        importlib.import_module(module)
    except Exception:  # the caller imports it once more, and hears of it
        return
