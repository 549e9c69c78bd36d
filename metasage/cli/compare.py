"""``metasage compare``: our methods and the installed baselines at one time limit."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metasage.cli import methods as options
from metasage.cli.options import Json

if TYPE_CHECKING:
    from metasage.baselines import Baseline
    from metasage.comparison import Contestant, Round

# The network alone, with local search in two ways, and local search without it.
_OWN = ("sage", "sage+final", "sage+memetic", "local-search")


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
    model: options.ModelName = None,
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
    from metasage import __version__
    from metasage.cli.output import INTERRUPTED, write_json
    from metasage.comparison import summarise
    from metasage.improve import available_cores
    from metasage.numbers import require_seed, require_time_limit
    from metasage.plotting import plot_comparison, require_picture_suffix, save_figure

    require_time_limit(time_limit)
    require_seed(seed)
    if plot is not None:
        require_picture_suffix(plot)
    options.require_targets(plot, json, sources=tuple(files))
    rounds = _read_rounds(files, best_known or [])
    if methods is not None or model is not None:
        _require_networks(rounds, methods or list(_OWN))
    contestants = _contestants(rounds, methods or list(_OWN), baselines, model, threads)
    interrupted = _play_all(rounds, contestants, time_limit, seed, quiet)
    summary = summarise(rounds)
    if json is not None:
        result = {
            "time_limit": time_limit,
            "seed": seed,
            "threads": threads or available_cores(),
            "files": [contest.to_dict() for contest in rounds],
            "summary": summary,
            "interrupted": interrupted,
            "version": __version__,
        }
        write_json(result, json)
    if not quiet and json != "-":
        _print_tables(rounds, summary)
    if plot is not None:
        save_figure(plot_comparison(rounds, time_limit), plot)
    return INTERRUPTED if interrupted else 0


def _read_rounds(files: list[str], best_known: list[float]) -> list[Round]:
    from metasage.comparison import Round
    from metasage.errors import InfeasibleError, InputError
    from metasage.io import read_best_known, read_instance
    from metasage.numbers import require_finite
    from metasage.problems import require_feasible

    for value in best_known:
        require_finite("best-known", value)
    if best_known and len(best_known) != len(files):
        raise InputError(f"{len(best_known)} values of --best-known do not fit {len(files)} files.")
    rounds = []
    for number, file in enumerate(files):
        instance = read_instance(file)
        try:
            require_feasible(instance)
        except InfeasibleError as error:
            raise InfeasibleError(f"{file}: {error}") from None
        given = (best_known[number], "--best-known") if best_known else None
        rounds.append(Round(file, instance, given or read_best_known(file, instance)))
    return rounds


def _require_networks(rounds: list[Round], methods: list[str]) -> None:
    """Complain about files that are beyond the networks that were asked for."""
    from metasage.comparison import LOCAL_SEARCH
    from metasage.errors import InputError

    if set(methods) <= {LOCAL_SEARCH}:
        return
    for contest in rounds:
        reason = contest.instance.problem.why_no_network(contest.instance)
        if reason is not None:
            raise InputError(f"{reason}.", contest.file)


def _contestants(
    rounds: list[Round],
    methods: list[str],
    baselines: list[str] | None,
    model_name: str | None,
    threads: int,
) -> list[Contestant]:
    """Return who takes part; a baseline that was asked for by name must be there."""
    from metasage.baselines import all_baselines, get_baseline
    from metasage.comparison import LOCAL_SEARCH, OwnMethod
    from metasage.errors import InputError
    from metasage.policies.library import find_model

    options.set_threads(threads)
    # A network that is named must be there; one that is not may be missing.
    problem = rounds[0].instance.problem.name
    model = None if model_name is None else find_model(model_name, problem)
    for method in methods:
        if method != LOCAL_SEARCH:
            name, _, improve = method.partition("+")
            options.require_names(name, improve or "none")
    chosen: list[Baseline] = []
    problems = {contest.instance.problem.name for contest in rounds}
    if baselines is None:
        chosen = [
            baseline
            for baseline in all_baselines().values()
            if baseline.is_available() and problems & set(baseline.problems)
        ]
    for name in baselines or []:
        baseline = get_baseline(name)
        if not baseline.is_available():
            raise InputError(f"{name} is not installed: {baseline.hint}.")
        if not problems & set(baseline.problems):
            raise InputError(f"{name} does not solve {', '.join(sorted(problems))}.")
        chosen.append(baseline)
    return [*(OwnMethod(method, model, threads) for method in methods), *chosen]


def _play_all(
    rounds: list[Round], contestants: list[Contestant], seconds: float, seed: int, quiet: bool
) -> bool:
    """Let everybody solve everything, and say whether the user interrupted."""
    from rich.console import Console
    from rich.markup import escape

    from metasage.cli.progress import short
    from metasage.comparison import play

    console = Console(stderr=True, quiet=quiet or not sys.stderr.isatty())
    with console.status("") as status:
        try:
            for contest in rounds:
                for contestant in contestants:
                    if not takes_part(contestant, contest):
                        continue
                    name = escape(f"{contest.instance.name}: {contestant.name}")
                    status.update(f"{name}, {seconds:g} s")

                    def tell(second: float, objective: float, name: str = name) -> None:
                        status.update(f"{name}, best {short(objective)} after {second:.1f} s")

                    play(contest, contestant, seconds, seed, tell)
        except KeyboardInterrupt:
            return True
    return False


def takes_part(contestant: Contestant, contest: Round) -> bool:
    """Whether a contestant solves such instances."""
    from metasage.comparison import OwnMethod

    if isinstance(contestant, OwnMethod):
        return contestant.can_solve(contest.instance)
    problem = contest.instance.problem.name
    return problem in getattr(contestant, "problems", (problem,))


def _print_tables(rounds: list[Round], summary: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    # Names of instances and notes of solvers are no markup.
    console = Console(highlight=False, markup=False)
    for contest in rounds:
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
                entry.solver,
                "failed" if found is None else f"{found.objective:.10g}",
                _percent(contest.gap(entry)),
                "" if found is None else f"{found.seconds:.1f}",
                entry.note,
            )
        console.print(table)
    if len(rounds) > 1:
        table = Table(title=f"{len(rounds)} files", title_justify="left")
        for column in ("solver", "solved", "mean gap", "wins"):
            table.add_column(column, justify="left" if column == "solver" else "right")
        for row in summary:
            gap = _percent(row["mean_gap"])
            table.add_row(row["solver"], str(row["solved"]), gap, str(row["wins"]))
        console.print(table)


def _title(contest: Round) -> str:
    instance = contest.instance
    title = f"{instance.name or contest.file}: {instance.problem.name} of {instance.size} nodes"
    if contest.best_known is not None:
        value, source = contest.best_known
        title += f", best known {value:.10g} ({source})"
    return title


def _percent(gap: float | None) -> str:
    # Adding 0 turns -0 into 0.
    return "" if gap is None else f"{round(100 * gap, 2) + 0.0:.2f}%"
