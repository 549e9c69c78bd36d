"""``metasage info``: what an instance is, before it is solved."""

from __future__ import annotations

from typing import Any

from metasage.cli.options import File, Json, ProblemOption, Round


def info(
    file: File, problem: ProblemOption = None, rounding: Round = None, json: Json = None
) -> None:
    """Show problem, size, bounds and rounding of an instance, and how it would be solved."""
    import metasage
    from metasage.cli.output import number, print_facts, write_json

    instance = metasage.read_instance(file, problem, rounding)
    facts: dict[str, Any] = {
        "instance": instance.name,
        "problem": instance.problem.name,
        "n": instance.size,
        "sense": instance.problem.sense,
        "metric": instance.metric.name,
        "rounding": instance.metric.rounding,
        "coordinates": None,
        **{name: number(value) for name, value in instance.problem.facts(instance).items()},
        "infeasible": instance.problem.infeasibility(instance),
        "engine": engine_name(),
    }
    if instance.coords is not None:
        low, high = instance.coords.min(axis=0), instance.coords.max(axis=0)
        facts["coordinates"] = [[float(value) for value in corner] for corner in (low, high)]
    if json is not None:
        write_json(facts, json)
    if json != "-":
        print_facts({name: _in_words(value) for name, value in facts.items()})


def engine_name() -> str:
    """Name the engine that would run rollouts here."""
    from importlib.util import find_spec

    return "native" if find_spec("metasage._native") is not None else "torch"


def _in_words(value: Any) -> Any:
    if isinstance(value, list):
        (left, bottom), (right, top) = value
        return f"{left:g} to {right:g}, {bottom:g} to {top:g}"
    return "no" if value is None else value
