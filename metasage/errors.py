"""Errors that are the user's to mend: one sentence each, never a traceback."""

from __future__ import annotations

from os import PathLike


def visible(text: str, most: int | None = None) -> str:
    """Return a text as it may reach a terminal or a picture, on one line.

    Control characters, which could steer a terminal, and whatever else has no picture of
    its own are written as escapes. What is longer than ``most`` characters is cut.
    """
    shown = text if most is None or len(text) <= most else text[: most - 3] + "..."
    if shown.isprintable():
        return shown
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)


class MetasageError(Exception):
    """Base of every error that metasage raises on purpose.

    The text is one full sentence. ``exit_code`` is what the command line
    returns for it.
    """

    exit_code = 2


class InputError(MetasageError):
    """A file, an array or an option is not what it should be.

    Parameters
    ----------
    message
        One sentence: what was found and what was expected.
    path
        The file at fault, if there is one.
    line
        The line of that file, counted from 1, if it is known.
    """

    def __init__(
        self, message: str, path: str | PathLike[str] | None = None, line: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line

    def __str__(self) -> str:
        place = "" if self.path is None else f"{self.path}:"
        if self.path is not None and self.line is not None:
            place += f"{self.line}:"
        # It may quote bytes of a broken file.
        return visible(f"{place} {self.message}" if place else self.message)


class TooLarge(InputError):  # noqa: N818 - said of an instance
    """The memory does not suffice for a network; local search needs less."""


class NotFinite(MetasageError):  # noqa: N818 - said of numbers
    """A network, or what an adaptation made of it, computes numbers that are not finite."""


class InfeasibleError(MetasageError):
    """The instance has no feasible solution, and the text says why."""

    exit_code = 1


class MetasageWarning(UserWarning):
    """Base of every warning that metasage gives: one sentence."""


class OutsideTraining(MetasageWarning):
    """An instance is unlike those that a network was trained on."""


class NetworkLeftOut(MetasageWarning):
    """Something that was asked for is left out, and the text says why."""
