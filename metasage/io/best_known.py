"""The best known objective of an instance, where its file or a file beside it tells."""

from __future__ import annotations

import os
import re
from pathlib import Path

from metasage.errors import InputError
from metasage.io.files import AnyPath, load
from metasage.io.reading import read_solution
from metasage.problems import check
from metasage.problems.instance import Instance

# What solution files are called beside an instance.
_SUFFIXES = (".sol", ".opt.tour", ".tour")

# Comments stand at the head of a file, and say it in about these words.
_HEAD = 4096
_COMMENT = re.compile(
    rb"^[ \t]*COMMENT\b.*?(?:optimal|optimum|best).*?value[ \t]*:?[ \t]*([0-9]+(?:\.[0-9]+)?)",
    re.IGNORECASE | re.MULTILINE,
)


def read_best_known(path: AnyPath, instance: Instance) -> tuple[float, str] | None:
    """Find the best known objective of an instance.

    Solutions beside the file (``.sol``, ``.opt.tour``, ``.tour``) are measured by
    the checker, and the file's COMMENT may state a value: the best of these.

    Parameters
    ----------
    path
        The file of the instance.
    instance
        The instance in it.

    Returns
    -------
    tuple[float, str] | None
        The objective and where it is from; None where nothing tells.
    """
    if not os.path.isfile(path):
        return None  # one instance of a set
    stated = _stated(path)
    found = [] if stated is None else [stated]
    for suffix in _SUFFIXES:
        beside = Path(path).with_suffix(suffix)
        if beside.is_file():
            try:
                verdict = check(instance, read_solution(beside, instance))
            except InputError:
                continue  # the file of another instance or program
            if verdict.feasible and verdict.objective is not None:
                found.append((verdict.objective, beside.name))
    sign = 1 if instance.problem.sense == "min" else -1
    return min(found, key=lambda one: sign * one[0], default=None)


def _stated(path: AnyPath) -> tuple[float, str] | None:
    """Return the value that a file's COMMENT states."""
    stated = _COMMENT.search(load(path)[:_HEAD])
    return None if stated is None else (float(stated[1]), "its COMMENT")
