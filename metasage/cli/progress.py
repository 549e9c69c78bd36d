"""A line that tells how the search goes, on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from metasage.adaptation.callbacks import Callbacks

if TYPE_CHECKING:
    from metasage.adaptation.result import Result
    from metasage.problems import Instance


class Progress(Callbacks):
    """Shows incumbent, iteration, speed and time left in one line on stderr.

    Parameters
    ----------
    time_limit
        Seconds of the whole search, if they are limited.
    iterations
        Planned number of iterations, if it is known.
    """

    def __init__(self, time_limit: float | None, iterations: int | None) -> None:
        from rich.console import Console

        self.time_limit, self.iterations = time_limit, iterations
        self.status = Console(stderr=True).status("")

    def on_start(self, instance: Instance) -> None:  # noqa: D102
        self.status.update(f"{instance.name}: {instance.problem.name} of {instance.size} nodes")
        self.status.start()

    def on_iteration(self, iteration: int, objective: float | None, seconds: float) -> None:  # noqa: D102
        found = "no solution yet" if objective is None else f"best {objective:.6g}"
        planned = "" if self.iterations is None else f" of {self.iterations}"
        left = (
            "" if self.time_limit is None else f", {max(0.0, self.time_limit - seconds):.0f} s left"
        )
        speed = iteration / max(seconds, 1e-9)
        self.status.update(
            f"{found}  iteration {iteration}{planned}  {speed:.1f}/s  {seconds:.0f} s{left}"
        )

    def on_end(self, result: Result) -> None:  # noqa: D102
        self.status.stop()


def make_progress(
    quiet: bool, time_limit: float | None, iterations: int | None
) -> Callbacks | None:
    """Return a progress line if somebody is there to see it."""
    return Progress(time_limit, iterations) if not quiet and sys.stderr.isatty() else None
