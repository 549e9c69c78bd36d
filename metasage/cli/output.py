"""What commands print."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from metasage.numbers import plain

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
