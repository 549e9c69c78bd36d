"""Standard output and error that no text can harm, whatever file it comes from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO, cast

from metasage.errors import visible

if TYPE_CHECKING:
    from rich.console import Console


class VisibleStream:
    """A stream that writes control characters as escapes, so that no text steers a terminal.

    Parameters
    ----------
    stream
        The real stream.
    """

    def __init__(self, stream: TextIO) -> None:
        self.real = stream
        with suppress(AttributeError, OSError, ValueError):
            # What the terminal's encoding lacks is no reason to fail.
            cast(Any, stream).reconfigure(errors="backslashreplace")

    def write(self, text: str) -> int:
        """Write a text; only the ends of its lines are left as they are."""
        return self.real.write("\n".join(map(visible, text.split("\n"))))

    def __getattr__(self, name: str) -> Any:
        # Whoever found the bytes below would write past this stream.
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.real, name)


@contextmanager
def visible_streams() -> Iterator[None]:
    """Let everything that is printed pass a `VisibleStream`."""
    usual = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, VisibleStream(stream)) for stream in usual)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = usual


def console(stream: TextIO, quiet: bool = False) -> Console:
    """Return what draws tables and the line of progress, with codes of its own.

    It writes past the `VisibleStream`: texts from files must be made visible before.
    """
    from rich.console import Console

    real = stream.real if isinstance(stream, VisibleStream) else stream
    return Console(file=real, quiet=quiet, highlight=False, markup=False)
