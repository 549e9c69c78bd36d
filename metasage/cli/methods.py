"""Options of ``solve`` and ``evaluate``, and the method that they describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from metasage.adaptation.method import Method
    from metasage.adaptation.stop import MaxRuntime

METHOD_NAMES = (
    "greedy", "sample", "as", "eas-lay", "eas-emb", "eas-tab", "sgbs", "sgbs-eas", "sage"
)  # fmt: skip
IMPROVE_NAMES = ("none", "final", "memetic")
PRESET_NAMES = ("default", "paper", "official")
ENGINE_NAMES = ("auto", "native", "torch")

MethodName = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help=f"{', '.join(METHOD_NAMES)}.",
    ),
]
PresetName = Annotated[
    str, typer.Option("--preset", help="Reading of sage: default, paper or official.")
]
ModelName = Annotated[
    str | None, typer.Option("--model", metavar="NAME|FILE", help="Network; see metasage models.")
]
SmlName = Annotated[
    str,
    typer.Option(
        "--sml",
        metavar="auto|shipped|none|NAME|FILE",
        help="Scale meta-learner. auto: the network's own for sage on instances larger than those "
        "of its training; shipped: for any method and size.",
    ),
]
ImproveName = Annotated[
    str | None,
    typer.Option(
        "--improve",
        metavar="|".join(IMPROVE_NAMES),
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
        help="A step looks at the K nearest allowed nodes alone: for large N. Default: all.",
    ),
]
Augment = Annotated[int, typer.Option("--augment", help="Symmetric copies: 1, 2, 4 or 8.")]
Seed = Annotated[int, typer.Option("--seed", help="Same seed, same result.")]
Threads = Annotated[int, typer.Option("--threads", help="Threads; 0 for all cores.")]
EngineName = Annotated[str, typer.Option("--engine", help="auto, native or torch.")]
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


def require_names(method: str, improve: str, preset: str = "default", engine: str = "auto") -> None:
    """Complain about names that do not exist, before anything large is imported."""
    from metasage.errors import InputError

    for option, name, known in (
        ("method", method, METHOD_NAMES),
        ("improve", improve, IMPROVE_NAMES),
        ("preset", preset, PRESET_NAMES),
        ("engine", engine, ENGINE_NAMES),
    ):
        if name not in known:
            raise InputError(f"{option} '{name}' is not one of {', '.join(known)}.")


def make_method(
    name: str,
    preset: str,
    iterations: int | None,
    rollouts: int | None,
    augment: int,
    neighbours: int | None = None,
    assignments: list[str] | None = None,
) -> Method:
    """Build the settings of a method."""
    from dataclasses import fields

    from metasage.adaptation.methods import METHODS
    from metasage.errors import InputError

    if name not in METHODS:
        raise InputError(f"method '{name}' is not one of {', '.join(METHODS)}.")
    options: dict[str, Any] = {
        "iterations": iterations,
        "rollouts": rollouts,
        "augment": augment,
        "neighbours": neighbours,
    }
    if name == "sage":
        options["preset"] = preset
    elif preset != "default":
        raise InputError(f"preset '{preset}' belongs to sage, not to {name}.")
    known = {f.name: str(f.type) for f in fields(METHODS[name]()) if f.name not in _OPTIONS}
    for assignment in assignments or []:
        setting, _, text = assignment.partition("=")
        value = _value(text)
        if setting not in known:
            raise InputError(
                f"{name} has no setting '{setting}', only {', '.join(known) or 'options'}."
            )
        if isinstance(value, str) and "Literal" not in known[setting]:
            raise InputError(f"{setting} is '{text}', and a number was expected.")
        options[setting] = value
    return METHODS[name](**options)


# Settings that have options of their own, or are the method's name.
_OPTIONS = ("iterations", "rollouts", "augment", "neighbours", "preset", "variant", "eas")


def _value(text: str) -> float | int | bool | str:
    """Read a number, true or false, or a word."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)


def make_stop(time_limit: float | None, started: float) -> MaxRuntime | None:
    """Build the time limit, which counts from the start of the program."""
    from metasage.adaptation.stop import MaxRuntime

    if time_limit is None:
        return None
    limit = MaxRuntime(time_limit)
    limit.started = started
    return limit


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


def set_threads(threads: int) -> None:
    """Let torch and the kernels use so many threads."""
    import torch

    from metasage.errors import InputError

    if threads < 0:
        raise InputError(f"threads is {threads} and must not be negative.")
    if threads:
        torch.set_num_threads(threads)
