"""``metasage evaluate``: the instances of sets and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from metasage.cli import options
from metasage.cli.options import Json, ProblemOption

if TYPE_CHECKING:
    from metasage.solving.result import Result


def evaluate(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Sets, SET.npz#A:B, or instances; several."),
    ],
    method: options.MethodOption = None,
    preset: options.PresetOption = "default",
    model: options.ModelOption = None,
    sml: options.SmlOption = "auto",
    settings: options.Settings = None,
    improve: options.ImproveOption = None,
    limit: Annotated[int | None, typer.Option("--limit", help="Only so many.")] = None,
    offset: Annotated[int, typer.Option("--offset", help="Leave out the first so many.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", help="Instances solved side by side.")] = 1,
    time_limit: options.TimeLimit = None,
    iterations: options.Iterations = None,
    rollouts: options.RolloutCount = None,
    augment: options.Augment = None,
    neighbours: options.Neighbours = None,
    seed: options.Seed = 1234,
    threads: options.Threads = 0,
    engine: options.EngineOption = "auto",
    device: options.Device = "cpu",
    max_memory: options.MaxMemory = None,
    references: Annotated[
        str | None,
        typer.Option("--references", metavar="FILE.json", help="Best known objectives, as a list."),
    ] = None,
    json: Json = None,
    problem: ProblemOption = None,
    quiet: options.Quiet = False,
) -> int:
    """Solve several instances, each with the time limit; print the mean objective.

    The method is greedy unless another is named.
    """
    from metasage.cli.output import write_json
    from metasage.errors import MetasageError
    from metasage.io import read_instances
    from metasage.numbers import require_time_limit
    from metasage.runtime.interrupts import INTERRUPTED, interruptible
    from metasage.solving.evaluate import evaluate as evaluate_all

    options.require_targets(json, sources=(*files, references))
    instances = [instance for file in files for instance in read_instances(file, problem)]
    if time_limit is not None:
        require_time_limit(time_limit)
    left = max(0, len(instances) - offset)
    known = None
    if references is not None:
        known = _read_references(references, left if limit is None else min(limit, left), offset)

    def tell(index: int, result: Result) -> None:
        label = result.instance.title if len(files) > 1 else f"#{index}"
        typer.echo(f"{label}  {result.objective:.4f}  {result.seconds:.2f} s")

    # From here on an interrupt ends the search, and what was found is written.
    with interruptible():
        outcome = evaluate_all(
            instances,
            method,
            limit=limit,
            offset=offset,
            jobs=jobs,
            time_limit=time_limit,
            preset=preset,
            iterations=iterations,
            rollouts=rollouts,
            augment=augment,
            neighbours=neighbours,
            settings=options.read_settings(settings),
            model=model,
            sml=sml,
            improve=improve or "none",
            seed=seed,
            engine=engine,
            threads=threads,
            device=device,
            max_memory=options.in_bytes(max_memory),
            listener=None if quiet or json == "-" else tell,
        )
        names = [_name(file) for file in files]
        result: dict[str, Any] = {"set": names if len(files) > 1 else names[0]} | outcome.to_dict()
        if known is not None:
            result["gap"] = outcome.gap(known)
        if json is not None:
            write_json(result, json)
        if not quiet and json != "-" and outcome.mean is not None:
            shown = "" if result.get("gap") is None else f", gap {100 * result['gap']:.2f}%"
            typer.echo(
                f"{', '.join(names)}: mean objective {outcome.mean:.4f} over "
                f"{len(outcome.results)} instances{shown}, {sum(outcome.seconds):.1f} s"
            )
    if outcome.failure:
        raise MetasageError(outcome.failure)
    return INTERRUPTED if outcome.interrupted else 0


def _name(file: str) -> str:
    from pathlib import Path

    return Path(file.partition("#")[0]).stem


def _read_references(path: str, count: int, offset: int) -> list[float]:
    import json
    import math

    from metasage.errors import InputError

    try:
        with open(path, encoding="utf-8") as file:
            values = json.load(file)
        if not isinstance(values, list):
            raise TypeError
        known = [float(value) for value in values]
        if not all(math.isfinite(value) and value > 0 for value in known):
            raise ValueError
    except OSError as error:
        raise InputError(f"{(error.strerror or 'cannot be read').lower()}.", path) from None
    except (ValueError, TypeError):
        raise InputError("a JSON list of positive numbers was expected.", path) from None
    if len(known) < offset + count:
        raise InputError(f"{len(known)} references do not cover {offset + count} instances.", path)
    return known[offset:]
