"""Modules that take long to load, under a time limit."""

from __future__ import annotations

import importlib
import sys
import threading
import time
from collections.abc import Callable

# Seconds between looks at the clock and at interrupts.
_BETWEEN_LOOKS = 0.05


def load(
    module: str, deadline: float | None = None, stopped: Callable[[], bool] = lambda: False
) -> bool:
    """Import a module; say whether it is there.

    Loading cannot be stopped. Where there is no more time it goes on in a thread of its
    own, and nobody waits for it.

    Parameters
    ----------
    module
        Name of the module.
    deadline
        Time of `time.monotonic` until which to wait; None for as long as it takes.
    stopped
        Asked now and then whether to wait no longer.
    """
    if module not in sys.modules and deadline is not None:
        loader = threading.Thread(target=_try_to_import, args=(module,), daemon=True)
        loader.start()
        while loader.is_alive():
            if stopped() or time.monotonic() > deadline:
                return False
            loader.join(_BETWEEN_LOOKS)
    importlib.import_module(module)
    return True


def _try_to_import(module: str) -> None:
    try:
        importlib.import_module(module)
    except Exception:  # the caller imports it once more, and hears of it
        return
