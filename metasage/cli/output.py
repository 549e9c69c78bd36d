"""What commands print."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from metasage.numbers import plain

if TYPE_CHECKING:
    from metasage.solving.result import Result

INTERRUPTED = 130
"""Exit code of a program that was told to stop."""


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
    width = max(map(len, facts))
    for name, value in facts.items():
        typer.echo(f"{name:<{width}}  {value}")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Print rows under headings, in aligned columns."""
    if title:
        typer.echo(title)
    lines = [columns, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (f"{text:<{width}}" for text, width in zip(line, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())


def set_threads(threads: int) -> None:
    """Let torch and the kernels use so many threads, for as long as the program runs."""
    import torch

    from metasage.numbers import require_threads

    require_threads(threads)
    if threads:
        torch.set_num_threads(threads)


def print_summary(result: Result, best_known: float | None) -> None:
    """Print the objective in one line, and below it who found what."""
    from metasage.cli.progress import in_percent, short
    from metasage.solving.record import NETWORK

    instance, settings = result.instance, result.settings
    gap = "" if best_known is None else f" ({in_percent(result.objective, best_known)})"
    line = f"{instance.name}: objective {number(result.objective)}{gap}"
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
