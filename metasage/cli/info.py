"""``metasage info``: what an instance is, before it is solved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metasage.cli.options import File, Json, ProblemOption, RoundOption

if TYPE_CHECKING:
    from metasage.problems import Instance


def info(
    file: File, problem: ProblemOption = None, rounding: RoundOption = None, json: Json = None
) -> None:
    """Show problem, size, bounds and rounding of an instance or a set, and the engine for it."""
    import metasage
    from metasage.cli.options import require_targets
    from metasage.cli.output import print_facts, write_json

    require_targets(json, sources=(file,))
    found = metasage.read(file, problem, rounding)
    if isinstance(found, metasage.InstanceSet):
        facts = {"set": found.name, "instances": len(found)} | describe(found[0])
        facts.pop("instance")
    else:
        if not isinstance(found, metasage.Instance):
            raise metasage.InputError("this is a solution, and an instance was expected.", file)
        facts = describe(found)
    if json is not None:
        write_json(facts, json)
    if json != "-":
        print_facts({name: _in_words(value) for name, value in facts.items()})


def describe(instance: Instance) -> dict[str, Any]:
    """Return what is known of an instance before it is solved."""
    from metasage.cli.output import number
    from metasage.solving.choice import what_solves

    places = instance.coords
    return {
        "instance": instance.name,
        "problem": instance.problem.name,
        "n": instance.size,
        "sense": instance.problem.sense,
        "metric": instance.metric.name,
        "rounding": instance.metric.rounding,
        "coordinates": None
        if places is None
        else [places.min(axis=0).tolist(), places.max(axis=0).tolist()],
        **{name: number(value) for name, value in instance.problem.facts(instance).items()},
        "infeasible": instance.problem.infeasibility(instance),
        **what_solves(instance),
    }


def _in_words(value: Any) -> Any:
    if isinstance(value, list):
        (left, bottom), (right, top) = value
        return f"{left:g} to {right:g}, {bottom:g} to {top:g}"
    return "no" if value is None else value
