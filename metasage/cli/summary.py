"""What ``metasage solve`` says at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from metasage.cli.output import number, print_facts
from metasage.cli.progress import in_percent, short
from metasage.solving.record import NETWORK

if TYPE_CHECKING:
    from metasage.solving.result import Result


def print_summary(result: Result, best_known: float | None) -> None:
    """Print the objective in one line, and below it who found what."""
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
