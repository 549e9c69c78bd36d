"""``metasage check``: measure a solution on the original data."""

from __future__ import annotations

from typing import Annotated

import typer

from metasage.cli.options import File, Json, ProblemOption, RoundOption, Vehicles


def check(
    file: File,
    solution: Annotated[str, typer.Argument(metavar="SOLUTION", help=".sol, .tour or .json.")],
    problem: ProblemOption = None,
    rounding: RoundOption = None,
    vehicles: Vehicles = None,
    json: Json = None,
) -> int:
    """Check a solution: exit code 0 if it is feasible, 1 if it is not."""
    import metasage
    from metasage.cli.options import require_targets
    from metasage.cli.output import number, write_json
    from metasage.io import read_file_solution
    from metasage.problems.cvrp import with_vehicles

    require_targets(json, sources=(file, solution))
    instance = metasage.read_instance(file, problem, rounding)
    if vehicles is not None:
        instance = with_vehicles(instance, vehicles)
    found = read_file_solution(solution)
    verdict = metasage.check(instance, found.resolve(instance))
    objective = number(verdict.objective)
    if json is not None:
        result = {
            "objective": objective,
            "feasible": verdict.feasible,
            "violation": verdict.violation,
        }
        write_json(result, json)
    if json != "-":
        typer.echo(f"feasible, objective {objective}" if verdict.feasible else verdict.violation)
        if found.objective not in (None, verdict.objective):
            stated = number(found.objective)
            typer.echo(f"note: the file states {stated}, and the routes have {objective}")
    return 0 if verdict.feasible else 1
