"""Run a command line: every error that is the user's becomes one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer

from metasage.cli.app import app
from metasage.cli.output import INTERRUPTED
from metasage.errors import MetasageError

# Typer's own errors descend from it, but it is not exported.
_UsageError: type[Exception] = typer.BadParameter.__mro__[2]


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    try:
        # Without any argument the user wants to know what there is.
        result = app(args=arguments or ["--help"], standalone_mode=False, prog_name="metasage")
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except MetasageError as error:
        return _complain(str(error), error.exit_code)
    except _UsageError as error:
        message = getattr(error, "format_message", error.__str__)()
        return _complain(" ".join(message.split()))
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


def _complain(sentence: str, exit_code: int = 2) -> int:
    sys.stderr.write(f"metasage: {sentence}\n")
    return exit_code
