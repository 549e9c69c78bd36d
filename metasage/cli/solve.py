"""``metasage solve``: one instance."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, cast

import typer

from metasage.cli import options
from metasage.cli.options import File, Json, ProblemOption, RoundOption, Vehicles


def solve(
    file: File,
    method: options.MethodOption = None,
    preset: options.PresetOption = "default",
    model: options.ModelOption = None,
    sml: options.SmlOption = "auto",
    settings: options.Settings = None,
    improve: options.ImproveOption = None,
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
    rounding: RoundOption = None,
    vehicles: Vehicles = None,
    quiet: options.Quiet = False,
) -> int:
    """Solve an instance, and let the independent checker measure the result.

    Under a time limit local search works alone unless an option asks for the network;
    without one the method is sage, and local search follows.
    """
    from metasage.cli.output import draw_in_time, print_summary, shown_progress, write_json
    from metasage.errors import MetasageError
    from metasage.io import read_instance, read_solution, require_solution_suffix, write_solution
    from metasage.numbers import require_finite, require_time_limit
    from metasage.plotting import DRAWING, require_picture_suffix, require_places
    from metasage.problems.cvrp import with_vehicles
    from metasage.runtime.interrupts import INTERRUPTED, interruptible
    from metasage.runtime.resources import begin_to_load
    from metasage.runtime.started import STARTED
    from metasage.solving.clock import latest_picture, picture_reserve, require_time_to_read
    from metasage.solving.solve import solve as solve_instance

    if time_limit is not None:
        require_time_limit(time_limit)
        require_time_to_read(file, time_limit, STARTED)
    instance = read_instance(file, problem, rounding)
    if vehicles is not None:
        instance = with_vehicles(instance, vehicles)
    if output is not None:
        require_solution_suffix(output, instance)
    pictures = [picture for picture in (plot, plot_curve) if picture is not None]
    for picture in pictures:
        require_picture_suffix(picture)
    if plot is not None:
        require_places(instance)
    options.require_targets(output, plot, plot_curve, json, sources=(file, initial_solution))
    if best_known is not None:
        require_finite("best-known", best_known)
    initial = None if initial_solution is None else read_solution(initial_solution, instance)
    latest = None
    if time_limit is not None and pictures:
        latest = latest_picture(STARTED, time_limit)
        drawn = 0 if plot is None else instance.num_nodes
        time_limit -= picture_reserve(time_limit, len(pictures), drawn)
    if pictures:
        begin_to_load(*DRAWING)
    # From here on an interrupt ends the search, and the solution is written.
    with interruptible():
        with shown_progress(quiet, time_limit, iterations, best_known) as callbacks:
            result = solve_instance(
                instance,
                method,
                time_limit=time_limit,
                preset=cast(Any, preset),
                iterations=iterations,
                rollouts=rollouts,
                augment=augment,
                neighbours=neighbours,
                settings=options.read_settings(settings),
                model=model,
                sml=sml,
                improve=cast(Any, improve),
                initial_solution=initial,
                seed=seed,
                threads=threads,
                engine=cast(Any, engine),
                device=device,
                max_memory=options.in_bytes(max_memory),
                callbacks=callbacks,
                started=STARTED,
            )
        writers: list[Callable[[], object]] = []
        if output is not None:
            writers.append(partial(write_solution, output, instance, result.best, result.objective))
        if json is not None:
            writers.append(partial(write_json, result.to_dict(), json))
        if plot is not None:
            writers.append(partial(draw_in_time, result.plot, plot, latest))
        if plot_curve is not None:
            writers.append(partial(draw_in_time, result.plot_curve, plot_curve, latest))
        failures: list[Exception] = []
        for write in writers:
            try:
                write()
            except (MetasageError, OSError) as error:  # the others may still be written
                failures.append(error)
        if not quiet and json != "-":
            print_summary(result, best_known)
        if result.check.violation is not None:
            sentence = f"metasage: the solution is not feasible: {result.check.violation}"
            typer.echo(sentence, err=True)
    if failures:
        raise failures[0]
    if result.interrupted:
        return INTERRUPTED
    return 0 if result.feasible else 1
