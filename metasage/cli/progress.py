"""A line that tells how the search goes, on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from metasage.runtime.started import STARTED
from metasage.solving.callbacks import Callbacks

if TYPE_CHECKING:
    from metasage.problems import Instance, Solution
    from metasage.solving.result import Result


def short(objective: float) -> str:
    """Write an objective with six digits, or as the whole number that is longer."""
    return f"{objective:.0f}" if abs(objective) >= 1e5 else f"{objective:.6g}"


class Progress(Callbacks):
    """Shows incumbent, gap, iteration, speed and time left in one line on stderr.

    Parameters
    ----------
    time_limit
        Seconds of the whole search, if they are limited.
    iterations
        Planned number of iterations, if it is known.
    best_known
        Objective to which the gap is shown, if it is known.
    """

    def __init__(
        self, time_limit: float | None, iterations: int | None, best_known: float | None = None
    ) -> None:
        from rich.console import Console

        self.time_limit, self.iterations, self.best_known = time_limit, iterations, best_known
        self.status = Console(stderr=True).status("")
        self.stage = ""
        self.objective: float | None = None

    def __rich__(self) -> str:
        """Return the line as it is now: the seconds go on while nothing else is heard."""
        seconds = time.monotonic() - STARTED
        found = "no solution yet" if self.objective is None else f"best {short(self.objective)}"
        if self.objective is not None and self.best_known is not None:
            found += f" ({in_percent(self.objective, self.best_known)})"
        left = ""
        if self.time_limit is not None:
            left = f", {max(0.0, self.time_limit - seconds):.0f} s left"
        return f"{found}  {self.stage}  {seconds:.0f} s{left}"

    def on_start(self, instance: Instance) -> None:  # noqa: D102
        self.stage = f"{instance.problem.name} of {instance.size} nodes"
        self.status.update(self)
        self.status.start()

    def on_iteration(self, iteration: int, objective: float | None, seconds: float) -> None:  # noqa: D102
        planned = "" if self.iterations is None else f" of {self.iterations}"
        self.stage = f"iteration {iteration}{planned}  {iteration / max(seconds, 1e-9):.1f}/s"
        self.objective = objective

    def on_stage(self, name: str) -> None:  # noqa: D102
        self.stage = name

    def on_best(self, solution: Solution, objective: float, iteration: int) -> None:  # noqa: D102
        self.objective = objective

    def on_end(self, result: Result) -> None:  # noqa: D102
        self.close()

    def close(self) -> None:
        """Take the line away, and give the terminal its cursor back."""
        with suppress(OSError):  # a terminal that was closed
            self.status.stop()


def in_percent(objective: float, best_known: float) -> str:
    """Return the distance to the best known objective in words."""
    if not best_known:
        return f"best known {best_known:g}"
    return f"{100 * (objective - best_known) / abs(best_known):+.2f}% from best known"


@contextmanager
def shown_progress(
    quiet: bool,
    time_limit: float | None,
    iterations: int | None,
    best_known: float | None = None,
) -> Iterator[Callbacks | None]:
    """Show a progress line if somebody is there to see it, and leave the terminal as it was."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    progress = Progress(time_limit, iterations, best_known)
    try:
        yield progress
    finally:
        progress.close()
