"""Files that say who is at work; the system takes them back from a process that was killed."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from metasage.errors import InputError
from metasage.io.files import AnyPath


class Lock:
    """A file that at most one process holds at a time, and that is gone afterwards.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: AnyPath) -> None:
        self.path = path
        self._handle: int | None = None

    def take(self) -> bool:
        """Take it, and say whether it was free.

        Raises
        ------
        OSError
            If such a file cannot be made.
        """
        while True:
            handle = os.open(self.path, os.O_CREAT | os.O_RDWR)
            if not is_free(handle):
                os.close(handle)
                return False
            if os.fstat(handle).st_nlink:
                self._handle = handle
                return True
            os.close(handle)  # whoever had it has removed it meanwhile

    def give_back(self) -> None:
        """Let others have it, if it was taken."""
        if self._handle is not None:
            with suppress(OSError):
                os.unlink(self.path)
            os.close(self._handle)
            self._handle = None


@contextmanager
def locked(path: AnyPath) -> Iterator[bool]:
    """Hold a lock for as long as the block runs; yield whether it was free."""
    lock = Lock(path)
    try:
        free = lock.take()
    except OSError as error:
        raise InputError(f"the file cannot be made ({error.strerror}).", path) from None
    try:
        yield free
    finally:
        lock.give_back()


def is_free(handle: int) -> bool:
    """Lock an open file if nobody has; where there are no locks, nobody has."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
