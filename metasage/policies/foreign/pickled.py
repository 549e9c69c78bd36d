"""Open a torch file without executing anything that it says, or taking more memory than it has."""

from __future__ import annotations

import math
import struct
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from metasage.errors import InputError
from metasage.io.files import load, located, quoted
from metasage.policies.foreign.inert import Inert, unpickle_inert

# Far more than what a checkpoint says beside its tensors.
_LARGEST_PICKLE = 4 * 2**20

_MOST_AXES = 8
_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_COUNT = struct.Struct("<q")

_KINDS: dict[str, torch.dtype] = {
    "torch.FloatStorage": torch.float32,
    "torch.DoubleStorage": torch.float64,
    "torch.HalfStorage": torch.float16,
    "torch.BFloat16Storage": torch.bfloat16,
    "torch.LongStorage": torch.int64,
    "torch.IntStorage": torch.int32,
    "torch.ShortStorage": torch.int16,
    "torch.CharStorage": torch.int8,
    "torch.ByteStorage": torch.uint8,
    "torch.BoolStorage": torch.bool,
}


def load_pickled(path: Path) -> Any:
    """Return what a torch file holds; whatever is no tensor or plain data is `Inert`.

    Raises
    ------
    InputError
        If the file cannot be read as a torch file.
    """
    data = load(path)
    with located(path):
        try:
            return _of_archive(data) if data.startswith(b"PK") else _of_sequence(data)
        except InputError:
            raise
        except Exception:  # a broken pickle may raise anything
            raise InputError("this is not a readable torch file.") from None


def _of_archive(data: bytes) -> Any:
    """Read torch's present format: an archive with a pickle, and a file for each storage."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        members = {member.filename: member for member in archive.infolist()}
        # As torch writes them; then no file can be larger than the archive.
        if any(member.compress_type != zipfile.ZIP_STORED for member in members.values()):
            raise InputError("this is not a readable torch file: its parts are compressed.")
        if any(name.endswith("/constants.pkl") for name in members):
            raise InputError("this is not a readable torch file: it holds TorchScript.")
        (pickled,) = (name for name in members if name.endswith("/data.pkl"))
        if members[pickled].file_size > _LARGEST_PICKLE:
            raise InputError("this is not a readable torch file: there is too much beside tensors.")
        storages: dict[str, Tensor] = {}

        def storage_of(pid: Any) -> Tensor:
            dtype, key, count = _declared(pid)
            if key not in storages:
                member = members[pickled.removesuffix("data.pkl") + f"data/{key}"]
                if member.file_size != count * dtype.itemsize:
                    raise ValueError
                storages[key] = _numbers(archive.read(member), dtype)
            return storages[key]

        return _unpickle(BytesIO(archive.read(pickled)), storage_of, len(data))


def _of_sequence(data: bytes) -> Any:
    """Read torch's old format: pickles one after another, and behind them the storages."""
    declared: dict[str, torch.dtype] = {}

    def declare(pid: Any) -> Inert:
        dtype, key, _ = _declared(pid)
        declared[key] = dtype
        return Inert(key)

    file = BytesIO(data[:_LARGEST_PICKLE])
    magic, _, _ = (unpickle_inert(file, {}, declare) for _ in range(3))
    if magic != _LEGACY_MAGIC:
        raise ValueError
    start = file.tell()
    # Read twice, since the numbers come after what is made of them.
    unpickle_inert(file, dict(_KINDS), declare)
    keys = unpickle_inert(file, {}, declare)
    storages: dict[str, Tensor] = {}
    at = file.tell()
    for key in keys:
        (count,) = _COUNT.unpack_from(data, at)
        at += _COUNT.size
        size = count * declared[key].itemsize
        if key in storages or not 0 <= size <= len(data) - at:
            raise ValueError
        storages[key] = _numbers(data[at : at + size], declared[key])
        at += size
    file.seek(start)
    return _unpickle(file, lambda pid: storages[_declared(pid)[1]], len(data))


def _declared(pid: Any) -> tuple[torch.dtype, str, int]:
    """Return kind, key and number of entries of a storage, as a pickle names it."""
    if type(pid) is not tuple or len(pid) not in (5, 6):
        raise ValueError
    mark, dtype, key, _, count, *view = pid
    if mark != "storage" or not isinstance(key, str) or view not in ([], [None]):
        raise ValueError
    if not isinstance(dtype, torch.dtype):
        raise InputError(f"the file holds numbers of the kind {quoted(dtype.kind)}.")
    return dtype, key, count


def _numbers(data: bytes, dtype: torch.dtype) -> Tensor:
    return torch.frombuffer(bytearray(data), dtype=dtype) if data else torch.empty(0, dtype=dtype)


def _unpickle(file: BytesIO, storage_of: Any, size: int) -> Any:
    """Run the pickle of a file of so many bytes, of which tensors are made."""
    left = size

    def tensor(
        storage: Tensor, offset: int, shape: tuple[int, ...], stride: tuple[int, ...], *_: Any
    ) -> Tensor:
        nonlocal left
        if len(shape) > _MOST_AXES or not all(0 <= n <= size for n in (offset, *shape, *stride)):
            raise ValueError
        count = math.prod(shape)
        if count > storage.numel():
            raise InputError("a tensor has more entries than there are numbers for it.")
        # Tensors may share their numbers; a copy of each must still fit.
        left -= count
        if left < 0:
            raise InputError("the tensors have more entries than the file has bytes.")
        return storage.as_strided(shape, stride, offset)

    known: dict[str, Any] = {
        "collections.OrderedDict": lambda: {},
        "torch._utils._rebuild_tensor_v2": tensor,
        "torch._utils._rebuild_tensor": tensor,
        "torch._utils._rebuild_parameter": lambda data, *_: data,
    }
    return unpickle_inert(file, _KINDS | known, storage_of)
