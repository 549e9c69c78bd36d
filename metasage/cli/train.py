"""``metasage train``: pre-training, resumable."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from metasage.cli.output import set_threads
from metasage.runtime.interrupts import INTERRUPTED

app = typer.Typer(
    help="Train networks (pomo, symnco) and their scale meta-learners (sml).", rich_markup_mode=None
)

Problem = Annotated[str, typer.Argument(metavar="PROBLEM", help="tsp, cvrp, pctsp or op.")]
Folder = Annotated[str, typer.Option("-o", "--output", help="Folder of the run.")]
Recipe = Annotated[
    str, typer.Option("--recipe", help="cpu, paper (full length) or scale (all sizes).")
]
SettingsFile = Annotated[
    str | None,
    typer.Option("--settings", metavar="FILE.toml", help="Settings in place of a recipe."),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Override a setting, e.g. seed=1."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder.")]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        help="From the start to the last file; go on with --resume.",
    ),
]
Neighbours = Annotated[
    int | None,
    typer.Option(
        "--neighbours", metavar="K", help="Steps look at the K nearest allowed nodes. Default: all."
    ),
]
Labels = Annotated[
    str | None, typer.Option("--labels", metavar="FOLDER", help="Labels that runs share.")
]
Threads = Annotated[int, typer.Option("--threads", help="Threads; 0 for all cores.")]
EngineName = Annotated[str, typer.Option("--engine", help="auto, native or torch.")]
Device = Annotated[str, typer.Option("--device", help="Where torch computes.")]
TensorBoard = Annotated[bool, typer.Option("--tensorboard", help="Write TensorBoard events, too.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]

# Share of the time that steps wait for labels, which a user may want to know.
_WORTH_TELLING = 0.05


def pretrain(
    context: typer.Context,
    problem: Problem,
    output: Folder,
    recipe: Recipe = "cpu",
    settings_file: SettingsFile = None,
    assignments: Assignments = None,
    resume: Resume = False,
    neighbours: Neighbours = None,
    labels: Labels = None,
    time_limit: TimeLimit = None,
    threads: Threads = 0,
    engine: EngineName = "auto",
    device: Device = "cpu",
    tensorboard: TensorBoard = False,
    quiet: Quiet = False,
) -> int:
    """Train a policy; the name of the command is the method."""
    from metasage.errors import InputError
    from metasage.runtime.started import STARTED
    from metasage.training.recipes import recipe as find_recipe
    from metasage.training.settings import load_settings
    from metasage.training.train import train

    method = str(context.info_name)
    settings = None
    if not resume:
        settings = (
            load_settings(settings_file) if settings_file else find_recipe(recipe, method, problem)
        )
        if (settings.method, settings.problem) != (method, problem):
            raise InputError(f"the settings train {settings.method} on {settings.problem}.")
        chosen = [] if neighbours is None else [f"policy.neighbours={neighbours}"]
        settings = settings.overridden([*(assignments or []), *chosen])
    elif assignments or settings_file or neighbours is not None:
        raise InputError(
            "a resumed run keeps its settings: no --set, --settings or --neighbours goes with it."
        )
    set_threads(threads)
    run = train(
        output,
        settings,
        resume=resume,
        engine=engine,
        device=device,
        labels=labels,
        time_limit=time_limit,
        started=STARTED,
        tensorboard=tensorboard,
        listener=None if quiet else print_progress,
    )
    if not quiet:
        state = "finished" if run.is_finished else "stopped, go on with --resume"
        typer.echo(f"{output}: {state} after {run.step} steps, {run.instances} instances")
    return INTERRUPTED if run.interrupted else 0


for _method, _help in {
    "pomo": "Train by POMO: many starts, one shared baseline (Kwon et al. 2020).",
    "symnco": "Train by Sym-NCO: symmetric copies share a baseline (Kim et al. 2022).",
}.items():
    app.command(_method, help=_help)(pretrain)


def print_progress(row: dict[str, Any]) -> None:
    """Print a row of the log for people."""
    if "validation" in row:
        size, objective = row["validation_size"], row["validation"]
        gaps = row.get("gaps", {str(size): row["gap"]})
        for n, found in row.get("validations", {str(size): objective}).items():
            known = "" if gaps[n] is None else f", gap {100 * gaps[n]:.2f}%"
            typer.echo(f"validation at N={n}: {found:.4f}{known}")
    elif "warning" in row:
        typer.echo(f"metasage: warning: {row['warning']}", err=True)
    elif "skipped" in row:
        typer.echo(f"step {row['step']}: not finite, skipped ({row['skipped']} so far)")
    else:
        left = row["seconds_left"]
        names = [name for name in ("cost", "best", "imitation") if name in row]
        parts = [f"step {row['step']}", f"N={row['size']}"]
        parts += [f"{name} {row[name]:.4f}" for name in names]
        parts.append(f"{row['instances_per_second']:.0f} instances/s")
        if row.get("waiting", 0) >= _WORTH_TELLING:
            parts.append(f"{100 * row['waiting']:.0f}% waiting for labels")
        parts.append(f"{int(left // 3600)}:{int(left % 3600 // 60):02d} h left")
        typer.echo("  ".join(parts))


@app.command("sml", help="Train the scale meta-learner of a network, labels first.")
def meta_train(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Network, by name or file.")],
    output: Folder,
    recipe: Recipe = "cpu",
    assignments: Assignments = None,
    resume: Resume = False,
    labels_only: Annotated[
        bool, typer.Option("--labels-only", help="Make labels; several processes may.")
    ] = False,
    labels: Labels = None,
    engine: EngineName = "auto",
    threads: Threads = 0,
    quiet: Quiet = False,
) -> int:
    """Make labels and train a scale meta-learner."""
    from metasage.errors import InputError
    from metasage.policies.library import find_model
    from metasage.training.sml.settings import sml_recipe
    from metasage.training.sml.train import train_sml

    if resume and assignments:
        raise InputError("a resumed run keeps its settings: --set does not go with it.")
    settings = None
    if not resume:
        problem = find_model(model).config.problem
        settings = sml_recipe(recipe, problem).overridden(assignments or [])
    set_threads(threads)
    run = train_sml(
        output,
        model,
        settings,
        resume=resume,
        engine=cast(Any, engine),
        threads=threads,
        labels=labels,
        labels_only=labels_only,
        listener=None if quiet else print_meta_progress,
    )
    if not quiet:
        made, wanted = run.count_labels()
        if run.is_finished or (made == wanted and not labels_only):
            state = "finished" if run.is_finished else "stopped, go on with --resume"
            typer.echo(f"{output}: {state} after {run.step} of {run.settings.steps} steps")
        else:
            why = "" if made == wanted or run.interrupted else "; others are still at work"
            typer.echo(f"{output}: {made} of {wanted} labels are there{why}")
    return INTERRUPTED if run.interrupted else 0


def print_meta_progress(row: dict[str, Any]) -> None:
    """Print a row of the meta-training's log for people."""
    if "labels" in row:
        left = row["seconds_left"] / 60
        typer.echo(f"label {row['labels']} of {row['of']}  {left:.0f} min left")
    elif "skipped" in row:
        typer.echo(f"step {row['step']}: not finite, skipped ({row['skipped']} so far)")
    elif "of" in row:
        parts = [f"{name} {row[name]:.4f}" for name in ("distance", "cost") if name in row]
        left = row["seconds"] / row["step"] * (row["of"] - row["step"])
        typer.echo(
            "  ".join([f"step {row['step']} of {row['of']}", *parts, f"{left / 60:.0f} min left"])
        )
    for kind in ("without", "with"):
        if kind in row:
            costs = ", ".join(f"N={size} {cost:.4f}" for size, cost in row[kind].items())
            typer.echo(f"zero-shot {kind} meta-learner: {costs}")
