"""The commands. Each body imports what it needs, so that --help answers at once."""

from __future__ import annotations

from typing import Annotated

import typer

from metasage.adaptation.published import help_text
from metasage.cli import (
    check,
    compare,
    evaluate,
    generate,
    info,
    models,
    reproduce,
    solve,
    train,
)

app = typer.Typer(
    name="metasage",
    help="Solve routing problems with neural policies that adapt to the instance.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from metasage import __version__

        typer.echo(f"metasage {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Solve routing problems with neural policies that adapt to the instance."""


app.command("solve", epilog=help_text())(solve.solve)
app.command("evaluate", epilog=help_text())(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("generate")(generate.generate)
app.command("check")(check.check)
app.command("info")(info.info)
app.command("reproduce")(reproduce.reproduce)
app.add_typer(models.app, name="models")
app.add_typer(train.app, name="train")
