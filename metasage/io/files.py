"""Bytes from and to the disk, with every failure told in one sentence."""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from metasage.errors import InputError
from metasage.numbers import kind_of

AnyPath = str | os.PathLike[str]

LARGEST_FILE = 512 * 2**20
_CHUNK = 2**20
_PREFIX, _SUFFIX = ".metasage-", ".tmp"

# Folders in which this process has looked for what others left behind.
_tidied: set[str] = set()
_LONGEST_QUOTE = 40


def require_path(path: object) -> None:
    """Complain about what is not the name of a file."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"the name of a file was expected, and this is {kind_of(path)}.")


def load(path: AnyPath) -> bytes:
    """Read a whole file.

    Raises
    ------
    InputError
        If there is no such file, or if it is unreadable, empty or too large.
    """
    try:
        with open(path, "rb") as handle:
            size = os.fstat(handle.fileno()).st_size
            chunks = []
            # Pipes have no size, so what was read is counted as well.
            while size <= LARGEST_FILE and (chunk := handle.read(_CHUNK)):
                chunks.append(chunk)
                size = max(size, len(chunks) * _CHUNK)
    except FileNotFoundError:
        raise InputError("the file does not exist.", path) from None
    except IsADirectoryError:
        raise InputError("this is a folder, and a file was expected.", path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"the file cannot be read: {_reason(error)}.", path) from None
    if size > LARGEST_FILE:
        raise InputError(f"the file is larger than {LARGEST_FILE // 2**20} MB.", path)
    data = b"".join(chunks)
    if not data.strip():
        raise InputError("the file is empty.", path)
    return data


def write_atomically(path: AnyPath, content: str | bytes) -> None:
    """Write a file completely or not at all.

    An earlier file of that name stays as it was unless everything was written.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        try:
            mode = os.stat(path).st_mode
        except FileNotFoundError:
            _replace(os.path.realpath(path), data, None)
            return
        if stat.S_ISREG(mode):
            if not os.access(path, os.W_OK):
                raise PermissionError(13, "Permission denied")
            _replace(os.path.realpath(path), data, stat.S_IMODE(mode))
        else:
            # A device or a pipe takes what it is given and must not be replaced.
            with open(path, "wb") as handle:
                handle.write(data)
    except IsADirectoryError:
        raise InputError("this is a folder, and a file was to be written.", path) from None
    except FileNotFoundError:
        raise InputError("the folder of this file does not exist.", path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"the file cannot be written: {_reason(error)}.", path) from None


def require_writable(path: AnyPath) -> None:
    """Complain about a file that cannot be written, before there is anything to write.

    Raises
    ------
    InputError
        If its folder does not exist or takes no files, or if it is a folder.
    """
    if os.path.isdir(path):
        raise InputError("this is a folder, and a file was to be written.", path)
    real = os.path.realpath(path)
    folder, exists = os.path.dirname(real), os.path.exists(real)
    if not os.path.isdir(folder):
        raise InputError("the folder of this file does not exist.", path)
    # A file is replaced by a new one in its folder; a device or a pipe is not.
    needed = [folder] if os.path.isfile(real) or not exists else []
    if not all(os.access(place, os.W_OK) for place in [*needed, *([real] if exists else [])]):
        raise InputError("the file cannot be written: permission denied.", path)


def _replace(target: str, data: bytes, mode: int | None) -> None:
    folder = os.path.dirname(target)
    if folder not in _tidied:
        _tidied.add(folder)
        _remove_left_behind(folder)
    descriptor, temporary = _make_temporary(folder)
    try:
        with open(descriptor, "wb") as handle:
            if mode is not None:
                os.fchmod(descriptor, mode)
            handle.write(data)
            handle.flush()
            os.fsync(descriptor)
            os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _make_temporary(folder: str) -> tuple[int, str]:
    """Make a file that is locked until it is closed, so that all know that it is in use."""
    while True:
        path = os.path.join(folder, f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}")
        # Not tempfile: its files are closed to all others, whatever the umask says.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor, path
        os.close(descriptor)  # it was removed before it was locked


def _remove_left_behind(folder: str) -> None:
    """Remove what a process that was killed had begun to write."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX):
                with suppress(OSError), open(entry.path, "rb") as handle:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(entry.path)


def _reason(error: OSError | ValueError) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return text[:1].lower() + text[1:]


@contextmanager
def located(path: AnyPath) -> Iterator[None]:
    """Add the file to errors that do not know it."""
    try:
        yield
    except InputError as error:
        if error.path is not None:
            raise
        raise InputError(error.message, path) from None


def quoted(text: str) -> str:
    """Quote a piece of a file for an error, shortened if it is long."""
    return f"'{text}'" if len(text) <= _LONGEST_QUOTE else f"'{text[:_LONGEST_QUOTE]}...'"
