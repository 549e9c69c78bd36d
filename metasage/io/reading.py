"""Reading files of every format, told apart by what is in them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

from metasage.errors import InputError
from metasage.io.cvrplib import is_routes, read_cvrp, read_routes
from metasage.io.files import AnyPath, load, located, quoted, require_path
from metasage.io.json_format import read_json
from metasage.io.npz import read_npz
from metasage.io.oplib import read_op, read_sequence
from metasage.io.pkl import read_pkl
from metasage.io.scan import Document, scan
from metasage.io.solution import FileSolution
from metasage.io.tsplib import read_tour, read_tsp
from metasage.problems.base import get_problem
from metasage.problems.instance import Instance, Solution
from metasage.problems.metric import ROUNDINGS
from metasage.problems.sets import InstanceSet

Content = TypeVar("Content", bound=Instance | InstanceSet | FileSolution)

_READERS = {"tsp": read_tsp, "cvrp": read_cvrp, "op": read_op}
_TYPES = {
    "TSP": "tsp",
    "ATSP": "tsp",
    "CVRP": "cvrp",
    "VRP": "cvrp",
    "ACVRP": "cvrp",
    "OP": "op",
    "TOUR": "tour",
}
# Sections that tell the problem where TYPE is missing.
_TELLING = {
    "TOUR_SECTION": "tour",
    "NODE_SEQUENCE_SECTION": "op",
    "DEMAND_SECTION": "cvrp",
    "NODE_SCORE_SECTION": "op",
}


def read(
    path: AnyPath, problem: str | None = None, rounding: str | None = None
) -> Instance | InstanceSet | FileSolution:
    """Read an instance, a set of instances or a solution.

    Parameters
    ----------
    path
        The file; ``SET.npz#INDEX`` is one instance of a set, counted from 0.
    problem
        The problem, where the file alone does not tell it.
    rounding
        Rounding of each edge ("nearest", "up", "down", "none") in place of
        the one that the file states.

    Raises
    ------
    InputError
        If the file is not what it should be; the text names file and line.
    """
    if problem is not None:
        get_problem(problem)
    file, index = split_index(path)
    with located(file):
        try:
            content = _read_content(load(file), file, problem)
            if index is not None:
                if not isinstance(content, InstanceSet):
                    raise InputError(f"this is not a set, so '#{index}' has no meaning.")
                if isinstance(index, slice):
                    raise InputError("a part of a set was given where one instance was expected.")
                content = content[index]
            return content if rounding is None else _rounded(content, rounding)
        except MemoryError:
            raise InputError("the file needs more memory than there is.") from None


def read_instance(
    path: AnyPath, problem: str | None = None, rounding: str | None = None
) -> Instance:
    """Read one instance; see `read`."""
    content = read(path, problem)
    if isinstance(content, InstanceSet):
        raise InputError(
            f"this is a set of {len(content)} instances; "
            f"one of them is {Path(path).name}#0 to #{len(content) - 1}.",
            path,
        )
    if isinstance(content, FileSolution):
        raise InputError("this is a solution, and an instance was expected.", path)
    with located(path):
        return content if rounding is None else _rounded(content, rounding)


def read_set(path: AnyPath, problem: str | None = None) -> InstanceSet:
    """Read a set of instances; see `read`."""
    content = read(path, problem)
    if not isinstance(content, InstanceSet):
        what = "a solution" if isinstance(content, FileSolution) else "one instance"
        raise InputError(f"this is {what}, and a set of instances was expected.", path)
    return content


def read_instances(path: AnyPath, problem: str | None = None) -> list[Instance]:
    """Read the instances of a set, or of the part ``SET.npz#A:B`` of it, or one instance."""
    file, index = split_index(path)
    if isinstance(index, slice):
        whole = read_set(file, problem)
        numbers = range(*index.indices(len(whole)))
        if not numbers:
            raise InputError(f"the set has {len(whole)} instances, and none of them here.", path)
        return [whole[number] for number in numbers]
    content = read(path, problem)
    if isinstance(content, FileSolution):
        raise InputError("this is a solution, and instances were expected.", path)
    return [content] if isinstance(content, Instance) else list(content)


def read_solution(path: AnyPath, instance: Instance) -> Solution:
    """Read a solution of an instance; whether it is feasible is not asked."""
    return read_file_solution(path).resolve(instance)


def read_file_solution(path: AnyPath) -> FileSolution:
    """Read a solution in the numbers of its file."""
    content = read(path)
    if not isinstance(content, FileSolution):
        what = "a set of instances" if isinstance(content, InstanceSet) else "an instance"
        raise InputError(f"this is {what}, and a solution was expected.", path)
    return content


def _rounded(content: Content, rounding: str) -> Content:
    if rounding not in ROUNDINGS:
        raise InputError(f"rounding '{rounding}' is not one of {', '.join(ROUNDINGS)}.")
    if isinstance(content, InstanceSet):
        raise InputError(
            "the rounding of a whole set cannot be changed, only that of one instance."
        )
    # The same rounding again is fine even where another is not possible.
    if isinstance(content, FileSolution) or rounding == content.metric.rounding:
        return content
    return content.with_rounding(rounding)


def split_index(path: AnyPath) -> tuple[AnyPath, int | slice | None]:
    """Tell the file and the index of ``SET.npz#INDEX``, or the part ``#A:B`` of it.

    A file may have a # in its name, too.
    """
    require_path(path)
    text = os.fspath(path)
    file, mark, index = text.rpartition("#")
    if not mark or not file or os.path.lexists(text):
        return path, None
    first, colon, last = index.partition(":")
    numbers = [number for number in ((first, last) if colon else (index,)) if number or not colon]
    if not all(n.isascii() and n.isdecimal() and len(n) <= 15 for n in numbers):
        raise InputError(f"{quoted(index)} is not the index of an instance.", file)
    if colon:
        return file, slice(int(first) if first else None, int(last) if last else None)
    return file, int(index)


def _read_content(
    data: bytes, path: AnyPath, problem: str | None
) -> Instance | InstanceSet | FileSolution:
    name = Path(path).stem
    start = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if data.startswith(b"PK"):
        return read_npz(data, problem, name)
    if data.startswith(b"\x80"):
        return read_pkl(data, problem, name)
    if start.startswith((b"{", b"[")):
        return read_json(data, path, problem, name)
    if data.startswith(b"\x93NUMPY"):
        raise InputError("this is a single array, and a set as .npz was expected.")
    if data.startswith((b"(lp0", b"]q\x00", b"(l")):
        raise InputError("this is a pickle of protocol 0 or 1; expected protocol 2 or later.")
    if b"\0" in data:
        raise InputError("this is a binary file of no known format.")
    if is_routes(data):
        return read_routes(data, path)
    return _read_document(scan(data, path), problem, name)


def _read_document(document: Document, problem: str | None, name: str) -> Instance | FileSolution:
    kind = _kind(document, problem)
    if kind == "tour":
        return read_tour(document)
    if kind == "op" and "NODE_SEQUENCE_SECTION" in document.sections:
        return read_sequence(document)
    if problem not in (None, kind):
        raise InputError(f"this is an instance of {kind}, and {problem} was asked for.")
    name = document.text("NAME") if "NAME" in document.fields else name
    return _READERS[kind](document, name)


def _kind(document: Document, problem: str | None) -> str:
    stated = document.word("TYPE")
    if stated in _TYPES:
        return _TYPES[stated]
    if stated:
        raise InputError(
            f"TYPE {quoted(stated)} is not supported; expected {', '.join(_TYPES)}.",
            document.path,
            document.line("TYPE"),
        )
    told = next((kind for name, kind in _TELLING.items() if name in document.sections), problem)
    if told not in (*_READERS, "tour"):
        raise InputError(
            "TYPE is missing, and nothing else tells what is in the file; "
            f"expected TYPE {', '.join(_TYPES)}."
            if told is None
            else f"{told} has no such file format; expected JSON or a set."
        )
    return told
