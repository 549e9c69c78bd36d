"""``metasage reproduce``: the tables and figures of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from metasage.cli.options import Json, require_targets
from metasage.cli.output import set_threads

if TYPE_CHECKING:
    from metasage.experiments.base import Experiment, Profile


def reproduce(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Experiment, or 'list'.")],
    profile: Annotated[
        str, typer.Option("--profile", help="cpu (minutes to hours) or paper (full size).")
    ] = "cpu",
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FOLDER", help="Where results are kept.")
    ] = "results",
    kind: Annotated[
        str, typer.Option("--networks", help="Shipped networks: symnco or pomo.")
    ] = "symnco",
    models: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="PROBLEM=NAME|FILE", help="Another network of a problem."),
    ] = None,
    smls: Annotated[
        list[str] | None,
        typer.Option("--sml", metavar="PROBLEM=NAME|FILE", help="Another scale meta-learner."),
    ] = None,
    problems: Annotated[
        list[str] | None, typer.Option("--problem", help="Only this problem (repeatable).")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", help="At most so many instances of a size.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="FOLDER", help="Instances that the package does not have."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of all searches.")] = 1234,
    threads: Annotated[int, typer.Option("--threads", help="Threads; 0 for all cores.")] = 0,
    json: Json = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> int:
    """Make a table or figure of the paper; an interrupted one goes on where it stopped."""
    from dataclasses import replace
    from pathlib import Path

    from metasage.cli.output import print_table, write_json
    from metasage.experiments import EXPERIMENTS, get_experiment
    from metasage.experiments.bench import Bench
    from metasage.runtime.interrupts import INTERRUPTED

    if name == "list":
        rows = [[e.name, e.shows, e.source] for e in EXPERIMENTS.values()]
        print_table(["name", "shows", "in the paper"], rows)
        return 0
    set_threads(threads)
    require_targets(json)
    experiment = get_experiment(name)
    chosen = _profile(experiment, profile, problems, limit)
    bench = Bench(
        Path(output) / name,
        _by_problem(models or []),
        _by_problem(smls or []),
        kind,
        seed,
        threads,
        None if quiet else lambda line: typer.echo(line, err=True),
        None if data is None else Path(data),
    )
    try:
        found = experiment.run(bench, chosen)
    except KeyboardInterrupt:
        typer.echo("metasage: interrupted; the same command goes on from here.", err=True)
        return INTERRUPTED
    size = f"Profile {profile}. {chosen.about()}"
    table = replace(found, notes=[*found.notes, size, bench.about()])
    # Different parts of an experiment do not overwrite each other.
    parts = [name, *(part for part in (profile, kind) if part not in ("cpu", "symnco"))]
    parts += [*(problems or []), *([] if limit is None else [f"first-{limit}"])]
    files = table.save(Path(output) / name / "-".join(parts))
    if json is not None:
        write_json({"experiment": name, "profile": profile} | table.to_dict(), json)
    if not quiet and json != "-":
        print_table(list(table.columns), table.texts(), table.title)
        for line in [*table.notes, "written: " + ", ".join(map(str, files))]:
            typer.echo(line)
    return 0


def _profile(
    experiment: Experiment, name: str, problems: list[str] | None, limit: int | None
) -> Profile:
    """Return the profile, cut down to what was asked for."""
    from dataclasses import replace

    from metasage.errors import InputError

    found = experiment.profile(name)
    for problem in problems or []:
        if problem not in found.problems:
            raise InputError(f"{experiment.name} has no part on '{problem}'.")
    if problems:
        found = replace(found, problems=tuple(problems))
    if limit is not None:
        if limit < 1:
            raise InputError(f"limit is {limit} and must be at least 1.")
        counts = {size: min(limit, count) for size, count in found.instances.items()}
        found = replace(found, instances=counts)
    return found


def _by_problem(assignments: list[str]) -> dict[str, str]:
    from metasage.errors import InputError
    from metasage.problems import get_problem

    found = {}
    for assignment in assignments:
        problem, mark, name = assignment.partition("=")
        if not mark or not name:
            raise InputError(f"'{assignment}' is not of the form PROBLEM=NAME.")
        found[get_problem(problem).name] = name
    return found
