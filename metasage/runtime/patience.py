"""For how long a computation may go on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Patience:
    """When to give up: at a deadline, or when somebody says so.

    Kernels look at it several times in a tenth of a second.

    Parameters
    ----------
    deadline
        Time of `time.monotonic`; None for none.
    stopped
        Asked now and then whether to give up; None for never.
    """

    deadline: float | None = None
    stopped: Callable[[], bool] | None = None

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the deadline, negative after it; None where there is none."""
        return None if self.deadline is None else self.deadline - time.monotonic()

    def is_over(self) -> bool:
        """Whether to give up now."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            return True
        return self.stopped is not None and self.stopped()

    def until(self, deadline: float | None) -> Patience:
        """Return the same with an earlier deadline; a later one changes nothing."""
        known = [moment for moment in (self.deadline, deadline) if moment is not None]
        return replace(self, deadline=min(known, default=None))


ENDLESS = Patience()
"""Gives up at nothing but an error."""
