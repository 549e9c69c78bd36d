"""``metasage solve``: one instance."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metasage import extension
from metasage.cli import methods as options
from metasage.cli.options import File, Json, ProblemOption, Round, Vehicles
from metasage.errors import InputError, MetasageError

if TYPE_CHECKING:
    from metasage.problems import Instance

# Seconds. Importing torch takes a good part of them, and of less than the second number all
# of them on a slow machine.
_LEAST_FOR_NETWORK, _LEAST_FOR_TORCH = 3.0, 2.0

# Pictures are a part of the time limit: what is kept back for them.
_PICTURES_SHARE, _MOST_FOR_PICTURES = 0.1, 1.5


def solve(
    file: File,
    method: options.MethodName = None,
    preset: options.PresetName = "default",
    model: options.ModelName = None,
    sml: options.SmlName = "auto",
    settings: options.Settings = None,
    improve: options.ImproveName = None,
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
    initial_solution: Annotated[
        str | None,
        typer.Option("--initial-solution", metavar="FILE", help="The result is never worse."),
    ] = None,
    best_known: Annotated[
        float | None,
        typer.Option("--best-known", metavar="VALUE", help="Show the gap to this objective."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Solution: .sol, .tour or .json."),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option("--plot", metavar="FILE", help="Picture of the solution: .png, .svg or .pdf."),
    ] = None,
    plot_curve: Annotated[
        str | None,
        typer.Option("--plot-curve", metavar="FILE", help="Picture of the objective over time."),
    ] = None,
    json: Json = None,
    problem: ProblemOption = None,
    rounding: Round = None,
    vehicles: Vehicles = None,
    quiet: options.Quiet = False,
) -> int:
    """Solve an instance, and let the independent checker measure the result.

    Under a time limit local search works alone unless an option asks for the network;
    without one the method is sage, and local search follows.
    """
    from metasage.cli.output import INTERRUPTED, write_json
    from metasage.io import read_instance, read_solution, require_solution_suffix, write_solution
    from metasage.numbers import require_augmentation, require_finite, require_time_limit
    from metasage.plotting import require_picture_suffix, require_places
    from metasage.policies.library import require_model
    from metasage.problems import require_feasible
    from metasage.problems.cvrp import with_vehicles
    from metasage.started import STARTED

    instance = read_instance(file, problem, rounding)
    if vehicles is not None:
        instance = with_vehicles(instance, vehicles)
    require_feasible(instance)
    if output is not None:
        require_solution_suffix(output, instance)
    for picture in (plot, plot_curve):
        if picture is not None:
            require_picture_suffix(picture)
    if plot is not None:
        require_places(instance)
    options.require_targets(output, plot, plot_curve, json, sources=(file, initial_solution))
    initial = None if initial_solution is None else read_solution(initial_solution, instance)
    from metasage.cli.progress import shown_progress
    from metasage.cli.summary import print_summary

    improve = default_improve() if improve is None else improve
    options.require_names(method or "sage", improve, preset, engine)
    counts = {"iterations": iterations, "rollouts": rollouts, "neighbours": neighbours}
    for name, count in counts.items():
        if count is not None and count < 1:
            raise InputError(f"{name} is {count} and must be at least 1.")
    if time_limit is not None:
        require_time_limit(time_limit)
    if best_known is not None:
        require_finite("best-known", best_known)
    require_augmentation(augment)
    if model is not None:
        require_model(model)
    beyond = instance.problem.why_no_network(instance)
    if beyond is not None and (method is not None or model is not None):
        raise InputError(f"{beyond}.")
    common: dict[str, Any] = {
        "seed": seed,
        "threads": threads,
        "initial_solution": initial,
        "started": STARTED,
    }
    # Whoever sets anything about the network wants it.
    wishes = (model, method, settings, iterations, rollouts, neighbours, max_memory)
    asked = any(wish is not None for wish in wishes) or (
        (preset, sml, augment, improve, engine, device)
        != ("default", "auto", 1, default_improve(), "auto", "cpu")
    )
    if improve == "none":
        reason = why_nothing(time_limit)
    else:
        reason = why_no_network(instance, model, asked, time_limit)
    if reason is not None and not quiet:
        alone = "construction" if improve == "none" else "local search"
        typer.echo(f"metasage: {reason}; {alone} alone.", err=True)
    if time_limit is not None and (plot is not None or plot_curve is not None):
        time_limit -= min(_MOST_FOR_PICTURES, _PICTURES_SHARE * time_limit)
    with shown_progress(quiet, time_limit, iterations, best_known) as callbacks:
        if reason is not None:
            from metasage.adaptation.local_search import solve_locally

            result = solve_locally(
                instance, time_limit=time_limit, callbacks=callbacks, improve=improve, **common
            )
        else:
            from metasage.adaptation.solve import solve as solve_instance

            options.set_threads(threads)
            result = solve_instance(
                instance,
                options.make_method(
                    method or "sage", preset, iterations, rollouts, augment, neighbours, settings
                ),
                options.make_stop(time_limit, STARTED),
                model=model,
                sml=sml,
                engine=engine,
                device=device,
                max_memory=options.in_bytes(max_memory),
                improve=improve,
                callbacks=callbacks,
                **common,
            )
    writers: list[Callable[[], object]] = []
    if output is not None:
        writers.append(partial(write_solution, output, instance, result.best, result.objective))
    if json is not None:
        writers.append(partial(write_json, result.to_dict(), json))
    if plot is not None:
        writers.append(partial(result.plot, plot))
    if plot_curve is not None:
        writers.append(partial(result.plot_curve, plot_curve))
    failures = []
    for write in writers:
        try:
            write()
        except MetasageError as error:  # the others may still be written
            failures.append(error)
    if not quiet and json != "-":
        print_summary(result, best_known)
    if result.check.violation is not None:
        typer.echo(f"metasage: the solution is not feasible: {result.check.violation}", err=True)
    if failures:
        raise failures[0]
    if result.interrupted:
        return INTERRUPTED
    return 0 if result.feasible else 1


def default_improve() -> str:
    """Return what measured best, or nothing where the extension was not built."""
    return "final" if extension.is_built() else "none"


def why_nothing(time_limit: float | None) -> str | None:
    """Say why not even a network that was asked for is loaded; None if it is."""
    if time_limit is not None and time_limit < _LEAST_FOR_TORCH:
        return f"{time_limit:g} s are too short to load a network"
    return None


def why_no_network(
    instance: Instance, model: str | None, asked: bool, time_limit: float | None
) -> str | None:
    """Say why an instance is solved without a network; None if it is not."""
    from metasage.improve.tiny import MOST_NODES
    from metasage.policies.library import default_model

    if instance.size <= MOST_NODES:
        return f"{instance.size} nodes are few enough to try every solution"
    if (beyond := instance.problem.why_no_network(instance)) is not None:
        return beyond
    if instance.coords is None:
        return f"{instance.name or 'the instance'} has no coordinates, which a network needs"
    if time_limit is not None and time_limit < _LEAST_FOR_NETWORK:
        return f"{time_limit:g} s are too short to make use of a network"
    if time_limit is not None and not asked:
        # Measured on all four problems: benchmarks/README.md.
        return "of a given time local search makes most without a network (--method sage adds it)"
    if model is None:
        try:
            default_model(instance.problem.name)
        except InputError as error:
            return error.message.rstrip(".")
    return None
