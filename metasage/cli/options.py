"""Options of the commands, and what turns their texts into values."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from metasage.adaptation.registry import METHODS, PRESETS
from metasage.solving.names import ENGINES, IMPROVE

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
MethodOption = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help=f"{', '.join(METHODS)}; or module:Class of your own.",
    ),
]
PresetOption = Annotated[
    str, typer.Option("--preset", help=f"Reading of sage: {', '.join(PRESETS)}.")
]
ModelOption = Annotated[
    str | None, typer.Option("--model", metavar="NAME|FILE", help="Network; see metasage models.")
]
SmlOption = Annotated[
    str,
    typer.Option(
        "--sml",
        metavar="auto|shipped|none|NAME|FILE",
        help="Scale meta-learner. auto: the network's own for sage on instances larger than those "
        "of its training; shipped: for any method and size.",
    ),
]
ImproveOption = Annotated[
    str | None,
    typer.Option(
        "--improve",
        metavar="|".join(IMPROVE),
        help="Local search: none (as evaluate does), after the network (as solve does), or on each "
        "iteration's best rollouts, too.",
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option("--time-limit", metavar="SECONDS", help="From the start to the written solution."),
]
Iterations = Annotated[
    int | None, typer.Option("--iterations", help="Iterations, and horizon of schedules.")
]
RolloutCount = Annotated[
    int | None, typer.Option("--rollouts", help="Rollouts of an iteration. Default: N.")
]
Neighbours = Annotated[
    int | None,
    typer.Option(
        "--neighbours",
        metavar="K",
        help="A step looks at the K nearest allowed nodes alone: for large N. Default: as the "
        "network was trained.",
    ),
]
Augment = Annotated[
    int | None, typer.Option("--augment", help="Symmetric copies: 1, 2, 4 or 8. Default: 1.")
]
Seed = Annotated[int, typer.Option("--seed", help="Same seed, same result.")]
Threads = Annotated[int, typer.Option("--threads", help="Threads; 0 for all cores.")]
EngineOption = Annotated[str, typer.Option("--engine", help=f"{', '.join(ENGINES)}.")]
Device = Annotated[str, typer.Option("--device", help="Where torch computes.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method (repeatable)."),
]
MaxMemory = Annotated[
    float | None,
    typer.Option("--max-memory", metavar="GIB", help="Memory of rollouts. Default: half the free."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def read_settings(assignments: list[str] | None) -> dict[str, Any] | None:
    """Turn NAME=VALUE into settings by name."""
    from metasage.errors import InputError

    if not assignments:
        return None
    settings = {}
    for assignment in assignments:
        name, mark, text = assignment.partition("=")
        if not mark:
            raise InputError(f"'{assignment}' is not NAME=VALUE.")
        settings[name] = _value(text)
    return settings


def _value(text: str) -> float | int | bool | str:
    """Read a number, true or false, or a word."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)


def require_targets(*paths: str | None, sources: tuple[str | None, ...] = ()) -> None:
    """Complain about files that cannot or must not be written, before any work is done.

    Parameters
    ----------
    paths
        Files to be written; None and ``-`` are none.
    sources
        Files that are read, which nothing may overwrite.
    """
    from os.path import realpath

    from metasage.errors import InputError
    from metasage.io import require_writable, split_index

    taken = {realpath(split_index(source)[0]) for source in sources if source is not None}
    for path in paths:
        if path is None or path == "-":
            continue
        require_writable(path)
        if realpath(path) in taken:
            raise InputError("the file is named twice, and would be overwritten.", path)
        taken.add(realpath(path))


def in_bytes(gibibytes: float | None) -> float | None:
    """Turn GiB into bytes."""
    from metasage.errors import InputError

    if gibibytes is not None and not gibibytes > 0:
        raise InputError(f"max-memory is {gibibytes} and must be positive.")
    return None if gibibytes is None else gibibytes * 2**30
