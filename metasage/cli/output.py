"""What commands print."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import typer


def number(value: float | None) -> float | int | None:
    """Return a whole number as an int, so that it is printed as one."""
    return int(value) if value is not None and float(value).is_integer() else value


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
