"""``metasage evaluate``: the instances of a set."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from metasage.cli import methods as options
from metasage.cli.options import Json, ProblemOption


def evaluate(
    file: Annotated[str, typer.Argument(metavar="SET.npz", help="Set of instances.")],
    method: options.MethodName = None,
    preset: options.PresetName = "default",
    model: options.ModelName = None,
    sml: options.SmlName = "auto",
    settings: options.Settings = None,
    improve: options.ImproveName = None,
    limit: Annotated[int | None, typer.Option("--limit", help="Only the first so many.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", help="Instances solved side by side.")] = 1,
    time_limit: options.TimeLimit = None,
    iterations: options.Iterations = None,
    rollouts: options.RolloutCount = None,
    augment: options.Augment = 1,
    neighbours: options.Neighbours = None,
    seed: options.Seed = 1234,
    threads: options.Threads = 0,
    engine: options.EngineName = "auto",
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
    """Solve the instances of a set, each with the time limit; print the mean objective.

    The method is greedy unless another is named.
    """
    from metasage.adaptation.evaluate import evaluate as evaluate_set
    from metasage.cli.output import INTERRUPTED, write_json
    from metasage.errors import InputError, MetasageError
    from metasage.io import read_set
    from metasage.numbers import require_time_limit

    options.require_targets(json, sources=(file, references))
    instances = read_set(file, problem)
    for name, value in (("limit", limit), ("jobs", jobs)):
        if value is not None and value < 1:
            raise InputError(f"{name} is {value} and must be at least 1.")
    if time_limit is not None:
        require_time_limit(time_limit)
    count = len(instances) if limit is None else min(limit, len(instances))
    known = None if references is None else _read_references(references, count)
    options.set_threads(threads)
    outcome = evaluate_set(
        instances,
        options.make_method(
            method or "greedy", preset, iterations, rollouts, augment, neighbours, settings
        ),
        limit=limit,
        jobs=jobs,
        time_limit=time_limit,
        model=model,
        sml=sml,
        improve=improve or "none",
        seed=seed,
        engine=engine,
        threads=threads,
        device=device,
        max_memory=options.in_bytes(max_memory),
        listener=None if quiet or json == "-" else _print_one,
    )
    result: dict[str, Any] = {"set": instances.name} | outcome.to_dict()
    if known is not None:
        result["gap"] = outcome.gap(known)
    if json is not None:
        write_json(result, json)
    if not quiet and json != "-" and outcome.mean is not None:
        shown = "" if result.get("gap") is None else f", gap {100 * result['gap']:.2f}%"
        typer.echo(
            f"{instances.name}: mean objective {outcome.mean:.4f} over "
            f"{len(outcome.objectives)} instances{shown}, {sum(outcome.seconds):.1f} s"
        )
    if outcome.failure:
        raise MetasageError(outcome.failure)
    return INTERRUPTED if outcome.interrupted else 0


def _print_one(index: int, objective: float, seconds: float) -> None:
    typer.echo(f"#{index}  {objective:.4f}  {seconds:.2f} s")


def _read_references(path: str, count: int) -> list[float]:
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
    if len(known) < count:
        raise InputError(f"{len(known)} references do not cover {count} instances.", path)
    return known
