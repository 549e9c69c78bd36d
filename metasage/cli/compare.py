"""``metasage compare``: our methods and the installed baselines at one time limit."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metasage.cli import options
from metasage.cli.options import Json
from metasage.cli.streams import console
from metasage.errors import visible

if TYPE_CHECKING:
    from metasage.comparison.contests import Contest
    from metasage.problems import Instance


def compare(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Instances, as for metasage solve."),
    ],
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="For each solver and file.")
    ],
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="NAME[+IMPROVE]",
            help="Method of ours; several. Default: sage, sage+final, sage+memetic, local-search.",
        ),
    ] = None,
    baselines: Annotated[
        list[str] | None,
        typer.Option("--baseline", help="Baseline; several. Default: all that are installed."),
    ] = None,
    best_known: Annotated[
        list[float] | None,
        typer.Option("--best-known", metavar="VALUE", help="Best known objective of each file."),
    ] = None,
    model: options.ModelOption = None,
    seed: options.Seed = 1234,
    threads: options.Threads = 0,
    plot: Annotated[
        str | None,
        typer.Option("--plot", metavar="FILE", help="Objective against time: .png, .svg or .pdf."),
    ] = None,
    json: Json = None,
    quiet: options.Quiet = False,
) -> int:
    """Compare our methods with the installed baselines, one after another."""
    from rich.markup import escape

    from metasage.cli.output import short, write_json
    from metasage.comparison.compare import compare as compare_all
    from metasage.io import read_best_known, read_instance
    from metasage.numbers import require_time_limit
    from metasage.plotting import require_picture_suffix
    from metasage.runtime.interrupts import INTERRUPTED, interruptible

    require_time_limit(time_limit)
    if plot is not None:
        require_picture_suffix(plot)
    options.require_targets(plot, json, sources=tuple(files))
    instances = [read_instance(file) for file in files]
    known: Sequence[Any] = best_known or [
        read_best_known(file, instance) for file, instance in zip(files, instances, strict=True)
    ]
    shown = console(sys.stderr, quiet=quiet or not sys.stderr.isatty())
    with shown.status("") as status:

        def tell(instance: Instance, solver: str, objective: float | None, seconds: float) -> None:
            found = "" if objective is None else f", best {short(objective)} after {seconds:.1f} s"
            name = escape(f"{instance.title}: {visible(solver)}")
            status.update(f"{name}, {time_limit:g} s{found}")

        comparison = compare_all(
            instances,
            time_limit,
            methods=methods,
            baselines=baselines,
            best_known=known,
            model=model,
            seed=seed,
            threads=threads,
            names=files,
            listener=tell,
        )
    with interruptible():  # what was found is written, whatever comes now
        if json is not None:
            write_json(comparison.to_dict(), json)
        if not quiet and json != "-":
            _print_tables(comparison.contests, comparison.summary)
        if plot is not None:
            comparison.plot(plot)
    return INTERRUPTED if comparison.interrupted else 0


def _print_tables(contests: Sequence[Contest], summary: list[dict[str, Any]]) -> None:
    from rich.table import Table

    shown = console(sys.stdout)
    for contest in contests:
        table = Table(title=_title(contest), title_justify="left")
        table.add_column("solver", no_wrap=True)
        table.add_column("objective", justify="right", no_wrap=True)
        known = "best here" if contest.best_known is None else "best known"
        table.add_column(f"gap to {known}", justify="right")
        table.add_column("seconds", justify="right")
        table.add_column("note")
        for entry in contest.entries:
            found = entry.outcome
            table.add_row(
                visible(entry.solver),
                "failed" if found is None else f"{found.objective:.10g}",
                _percent(contest.gap(entry)),
                "" if found is None else f"{found.seconds:.1f}",
                visible(entry.note),
            )
        shown.print(table)
    if len(contests) > 1:
        table = Table(title=f"{len(contests)} files", title_justify="left")
        for column in ("solver", "solved", "mean gap", "wins"):
            table.add_column(column, justify="left" if column == "solver" else "right")
        for row in summary:
            gap = _percent(row["mean_gap"])
            table.add_row(visible(row["solver"]), str(row["solved"]), gap, str(row["wins"]))
        shown.print(table)


def _title(contest: Contest) -> str:
    instance = contest.instance
    name = instance.title if instance.name else visible(contest.file)
    title = f"{name}: {instance.problem.name} of {instance.size} nodes"
    if contest.best_known is not None:
        value, source = contest.best_known
        title += f", best known {value:.10g} ({visible(source)})"
    return title


def _percent(gap: float | None) -> str:
    # Adding 0 turns -0 into 0.
    return "" if gap is None else f"{round(100 * gap, 2) + 0.0:.2f}%"
