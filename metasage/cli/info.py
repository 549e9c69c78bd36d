"""``metasage info``: what an instance is, before it is solved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metasage.cli.options import File, Json, ProblemOption, Round

if TYPE_CHECKING:
    from metasage.problems import Instance


def info(
    file: File, problem: ProblemOption = None, rounding: Round = None, json: Json = None
) -> None:
    """Show problem, size, bounds and rounding of an instance or a set, and the engine for it."""
    import metasage
    from metasage.cli.methods import require_targets
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


def what_solves(instance: Instance) -> dict[str, Any]:
    """Name what ``metasage solve`` uses for an instance; None for nothing."""
    from metasage.cli.solve import default_improve, why_no_network
    from metasage.policies.library import default_model, shipped_models
    from metasage.policies.metadata import read_metadata, training_size

    improve = default_improve()
    has_extension = improve != "none"
    chosen = {
        "method under a time limit": "local-search" if has_extension else "sage",
        "engine": "native" if has_extension else "torch",
        "improve": improve,
    }
    if why_no_network(instance, None, False, None) is not None:
        return {"method": "local-search", "model": None, "sml": None} | chosen
    name = default_model(instance.problem.name)
    path = shipped_models()[name]
    trained = training_size(read_metadata(path)[1]) or 0
    has_sml = instance.size > trained and (path.parent / "sml" / path.name).exists()
    return {"method": "sage", "model": name, "sml": name if has_sml else None} | chosen


def _in_words(value: Any) -> Any:
    if isinstance(value, list):
        (left, bottom), (right, top) = value
        return f"{left:g} to {right:g}, {bottom:g} to {top:g}"
    return "no" if value is None else value
