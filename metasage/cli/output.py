"""What commands print, and the line that tells how a search goes."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import typer

from metasage.cli.streams import console
from metasage.errors import NetworkLeftOut, visible
from metasage.numbers import plain
from metasage.runtime.resources import load
from metasage.runtime.started import STARTED
from metasage.solving.callbacks import Callbacks

if TYPE_CHECKING:
    from metasage.problems import Instance, Solution
    from metasage.solving.result import Result

# Longest name or cell, and longest value of a fact, that is printed.
_LONGEST_NAME, _LONGEST_VALUE = 200, 2000


def number(value: float | None) -> float | int | None:
    """Return a number as it is printed, if there is one."""
    return None if value is None else plain(value)


def write_json(value: Mapping[str, Any], target: str) -> None:
    """Write a JSON object to a file, or to standard output for ``-``."""
    text = json.dumps(value, allow_nan=False)
    if target == "-":
        typer.echo(text)
        return
    from metasage.io import write_atomically

    write_atomically(target, text + "\n")


def print_facts(facts: Mapping[str, Any]) -> None:
    """Print names and values in two columns."""
    texts = {visible(name, _LONGEST_NAME): str(value) for name, value in facts.items()}
    width = max(map(len, texts))
    for name, text in texts.items():
        typer.echo(f"{name:<{width}}  {visible(text, _LONGEST_VALUE)}")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Print rows under headings, in aligned columns."""
    if title:
        typer.echo(title)
    lines = [columns, *([visible(text, _LONGEST_NAME) for text in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (f"{text:<{width}}" for text, width in zip(line, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())


def draw_in_time(draw: Callable[[str], None], path: str, latest: float | None) -> None:
    """Draw a picture, or say that it is too late for it.

    Parameters
    ----------
    draw
        Draws into a file.
    path
        The file.
    latest
        Time of `time.monotonic` until which to begin; None for no limit.
    """
    from metasage.plotting import DRAWING

    is_ready = all(load(module, latest) for module in DRAWING)
    if is_ready and (latest is None or time.monotonic() < latest):
        draw(path)
    else:
        warnings.warn(f"there was no time left to draw {path}.", NetworkLeftOut, stacklevel=2)


def set_threads(threads: int) -> None:
    """Let torch and the kernels use so many threads, for as long as the program runs."""
    import torch

    from metasage.numbers import require_threads

    require_threads(threads)
    if threads:
        torch.set_num_threads(threads)


def print_summary(result: Result, best_known: float | None) -> None:
    """Print the objective in one line, and below it who found what."""
    from metasage.solving.record import NETWORK

    instance, settings = result.instance, result.settings
    gap = "" if best_known is None else f" ({in_percent(result.objective, best_known)})"
    line = f"{instance.title}: objective {number(result.objective)}{gap}"
    facts: dict[str, Any] = {}
    if not instance.problem.single_tour:
        facts["routes"] = len([route for route in result.best.routes if route])
    else:
        facts["visited"] = f"{sum(map(len, result.best.routes))} of {instance.size}"
    for name, seconds, objective in result.stages:
        facts[name] = f"{short(objective)} after {seconds:.1f} s"
        if name == NETWORK:
            facts[name] += f", {settings['method']} with {settings['model']}"
            facts[name] += "" if settings["sml"] == "none" else " and its scale meta-learner"
    if result.iterations:
        line += f", {result.iterations} iterations"
    typer.echo(f"{line}, {result.seconds:.1f} s")
    print_facts(facts)


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
        self.time_limit, self.iterations, self.best_known = time_limit, iterations, best_known
        self.status = console(sys.stderr).status("")
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
