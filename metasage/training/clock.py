"""The time of a run: what has passed, what is left, and when to come to an end."""

from __future__ import annotations

import math
import time
from typing import Any

from metasage.training.bank import Bank
from metasage.training.data import StepPlan
from metasage.training.run import Run

# Least weight of a step in the speeds, which begin as plain means.
_FRESH = 0.05
# Seconds that the last files take where that was not measured.
_CLOSING = 1.0


class Clock:
    """Counts the seconds of a run over all its interruptions, and keeps a time limit.

    Parameters
    ----------
    run
        The run.
    bank
        Where its steps wait for labels.
    end
        Time of `time.monotonic` at which all must be done.

    Attributes
    ----------
    closing
        Seconds that the last files take.
    """

    def __init__(self, run: Run, bank: Bank, end: float = math.inf) -> None:
        self.run = run
        self.end = end
        self.closing = _CLOSING
        self._bank = bank
        self._last = self._row = self._began = time.monotonic()
        self._row_waited = self._began_waited = bank.waited
        self._durations: dict[int, float] = {}
        self._steps = 0
        self._instances_per_second = 0.0
        self._work_per_second = 0.0

    @property
    def left(self) -> float:
        """Seconds until the last files must be written."""
        return self.end - self.closing - time.monotonic()

    def allows(self, plan: StepPlan, reserve: float) -> bool:
        """Tell whether there is time for a step, and for so many seconds after it."""
        size = plan.kind.size
        guesses = [took * size / known for known, took in self._durations.items()]
        return self.left > reserve + self._durations.get(size, max(guesses, default=0.0))

    def begin(self) -> None:
        """Note that a step begins."""
        self._began, self._began_waited = time.monotonic(), self._bank.waited

    def tick(self, plan: StepPlan) -> None:
        """Note that a step is done."""
        now = time.monotonic()
        took = max(now - self._began, 1e-9)
        self.run.seconds += now - self._last
        self._last = now
        # Labels that were late for one step are there for the next.
        self._durations[plan.kind.size] = took - (self._bank.waited - self._began_waited)
        work = plan.stage.work_at(plan.kind.size)
        self._steps += 1
        fresh = max(_FRESH, 1 / self._steps)
        self._instances_per_second += fresh * (plan.count / took - self._instances_per_second)
        self._work_per_second += fresh * (work / took - self._work_per_second)

    def row(self, plan: StepPlan) -> dict[str, Any]:
        """Return what the log says of the time, since the last row."""
        now = time.monotonic()
        row = {
            "instances_per_second": self._instances_per_second,
            "seconds": self.run.seconds,
            "seconds_left": self.run.settings.work_after(plan.step + 1) / self._work_per_second,
        }
        if plan.stage.imitation:
            row["waiting"] = (self._bank.waited - self._row_waited) / max(now - self._row, 1e-9)
        self._row, self._row_waited = now, self._bank.waited
        return row
