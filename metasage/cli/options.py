"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="Instance: .tsp, .vrp, .oplib or .json, or SET.npz#INDEX (from 0)."
    ),
]
ProblemOption = Annotated[
    str | None,
    typer.Option("--problem", help="Problem, where the file's fields leave it open."),
]
RoundOption = Annotated[
    str | None,
    typer.Option(
        "--round", help="Round each edge: nearest, up, down or none. Default: as the file says."
    ),
]
Vehicles = Annotated[
    int | None,
    typer.Option(
        "--vehicles",
        metavar="V",
        help="Most routes with customers, in place of the file's number (CVRP).",
    ),
]
Json = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE|-", help="Write the result as JSON (- for stdout)."),
]
