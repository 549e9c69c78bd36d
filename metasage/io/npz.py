"""Sets of instances as ``.npz``: arrays in a zip file, read without trust."""

from __future__ import annotations

import io
import math
import re
import struct
import zipfile
import zlib
from typing import Any

import numpy as np

from metasage.errors import InputError
from metasage.problems.base import Arrays, get_problem
from metasage.problems.instance import LARGEST_VALUE
from metasage.problems.sets import InstanceSet, guess_problem

LARGEST_SET = 4 * 2**30
# Random numbers hardly shrink; only constants do, and those are small.
_LARGEST_RATIO = 100
_HARMLESS = 64 * 2**20

_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 4096
_DTYPE = re.compile(r"['\"]descr['\"]\s*:\s*['\"]([<>=|]?[iuf][1248])['\"]")
_ORDER = re.compile(r"['\"]fortran_order['\"]\s*:\s*(True|False)")
_SHAPE = re.compile(r"['\"]shape['\"]\s*:\s*\(([0-9, ]*)\)")

_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    IndexError,
    OverflowError,
)


def read_npz(data: bytes, problem: str | None, name: str) -> InstanceSet:
    """Read a set.

    Parameters
    ----------
    data
        The bytes of the file.
    problem
        The problem; told by the names of the arrays if it is not given.
    name
        Name of the set.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read_archive(archive, len(data), problem, name)
    except _BROKEN:
        raise InputError("the file is not a complete .npz archive.") from None


def build_set(problem: str, arrays: Arrays, name: str) -> InstanceSet:
    """Build a set of which every instance is valid."""
    instances = InstanceSet(get_problem(problem), arrays, name)
    for field, array in instances.arrays.items():
        with np.errstate(over="ignore"):  # the bound itself is beyond float16
            wrong = ~np.isfinite(array) | (array > LARGEST_VALUE) | (array < -LARGEST_VALUE)
        if array.ndim == 1:
            wrong |= array <= 0
        elif field not in ("loc", "depot"):
            wrong |= array < 0
        if wrong.any():
            place = tuple(np.argwhere(wrong)[0])
            raise InputError(
                f"{field} of instance #{place[0]} holds the value {array[place]:g}, "
                "which is not allowed."
            )
    return instances


def _read_archive(
    archive: zipfile.ZipFile, size: int, problem: str | None, name: str
) -> InstanceSet:
    members = {}
    for member in archive.infolist():
        field = member.filename.removesuffix(".npy")
        if field in members:
            raise InputError(f"the archive holds '{field}' twice.")
        members[field] = member
    if problem is None:
        problem = guess_problem(set(members)).name
    wanted = [field for field in get_problem(problem).set_fields if field in members]
    total = sum(members[field].file_size for field in wanted)
    if total > min(LARGEST_SET, max(_HARMLESS, _LARGEST_RATIO * size)):
        raise InputError(
            f"the arrays would take {total / 2**30:.1f} GB, "
            f"too much for a file of {size / 2**20:.1f} MB."
        )
    arrays = {field: _read_member(archive, members[field], field) for field in wanted}
    return build_set(problem, arrays, name)


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, field: str) -> Any:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"the array '{field}' is compressed in a way that is not supported.")
    with archive.open(member) as handle:
        magic = handle.read(8)
        width = 2 if magic[6:7] == b"\x01" else 4
        length = int.from_bytes(handle.read(width), "little")
        if not magic.startswith(_MAGIC) or length > _LONGEST_HEADER:
            raise InputError(f"the array '{field}' is not in numpy's format.")
        header = handle.read(length).decode("latin-1")
        dtype, order, shape = _read_header(header, field)
        expected = math.prod(shape) * dtype.itemsize
        present = member.file_size - len(magic) - width - length
        # Compared before reading, so that a wrong header cannot ask for memory.
        if expected != present:
            raise InputError(
                f"the array '{field}' has {present} bytes, and its shape {shape} needs {expected}."
            )
        content = handle.read()
    array = np.frombuffer(content, dtype).reshape(shape, order=order)
    return array.astype(dtype.newbyteorder("="), copy=False)


def _read_header(header: str, field: str) -> tuple[np.dtype[Any], Any, tuple[int, ...]]:
    dtype, order, shape = (p.search(header) for p in (_DTYPE, _ORDER, _SHAPE))
    if dtype is None or dtype[1].endswith("f1"):
        raise InputError(f"the array '{field}' does not hold plain numbers.")
    if order is None or shape is None:
        raise InputError(f"the array '{field}' has a broken header.")
    sides = tuple(int(side) for side in shape[1].replace(",", " ").split())
    if not all(sides):
        raise InputError(f"the array '{field}' is empty.")
    return np.dtype(dtype[1]), "F" if order[1] == "True" else "C", sides
