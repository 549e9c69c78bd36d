"""The commands, and how one is run: errors that are the user's become a line and an exit code.

Each command imports what it needs when it is called, so that --help answers at once.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

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
from metasage.cli.streams import visible_streams
from metasage.errors import MetasageError, MetasageWarning, visible
from metasage.runtime.interrupts import INTERRUPTED

# Typer's own errors descend from it, but it is not exported.
_UsageError: type[Exception] = typer.BadParameter.__mro__[2]

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


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    usual = warnings.formatwarning
    with warnings.catch_warnings(), visible_streams():
        _show_warnings("--quiet" not in arguments)
        try:
            return _run(arguments)
        finally:
            warnings.formatwarning = usual


def _run(arguments: Sequence[str]) -> int:
    # Not as typer runs commands: it takes interrupts and broken pipes for its own.
    command = typer.main.get_command(app)
    try:
        # Without any argument the user wants to know what there is.
        with command.make_context("metasage", list(arguments) or ["--help"]) as context:
            result = command.invoke(context)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except MetasageError as error:
        return _complain(str(error), error.exit_code)
    except _UsageError as error:
        message = getattr(error, "format_message", error.__str__)()
        return _complain(" ".join(message.split()).rstrip(".") + ".")
    except typer.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted.", INTERRUPTED)
    except MemoryError:
        return _complain("there is not enough memory for this.")
    except BrokenPipeError:
        # The reader of a pipe left: say nothing, not even when Python flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _complain(f"{error.strerror or error}.")


def _show_warnings(wanted: bool) -> None:
    """Turn warnings that are meant for users into one line each, if they want to hear them."""
    usual = warnings.formatwarning

    def line(message: Warning | str, category: type[Warning], *place: Any, **rest: Any) -> str:
        if issubclass(category, MetasageWarning):
            return f"metasage: warning: {visible(str(message))}\n"
        return usual(message, category, *place, **rest)

    warnings.simplefilter("once" if wanted else "ignore", MetasageWarning)
    warnings.formatwarning = line


def _complain(sentence: str, exit_code: int = 2) -> int:
    with suppress(OSError):  # nobody hears it, but the exit code tells
        sys.stderr.write(f"metasage: {sentence}\n")
    return exit_code
