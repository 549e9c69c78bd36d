"""Entry point: every error that is the user's becomes one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer

from metasage.cli.app import app
from metasage.errors import MetasageError
from metasage.started import STARTED as _STARTED  # noqa: F401 - the clock starts here

# Typer's own errors descend from it, but it is not exported.
_UsageError: type[Exception] = typer.BadParameter.__mro__[2]
INTERRUPTED = 130


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


def main() -> None:
    """Run the command line of this process."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
