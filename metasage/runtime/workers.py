"""One function, carried out by several processes side by side."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Generic, TypeVar

from metasage.errors import InputError, MetasageError
from metasage.runtime.messages import receive, send
from metasage.runtime.processes import start

Argument = TypeVar("Argument")
Answer = TypeVar("Answer")


class WorkerDied(MetasageError):  # noqa: N818 - said of a process
    """A process ended in the middle of its work, most likely for want of memory."""


class Workers(Generic[Argument, Answer]):
    """Processes that each hold a function, and carry it out again and again.

    They import nothing from the current folder, hear no signals, and end with this process.
    Each belongs to a thread here, which waits for its answers.

    Parameters
    ----------
    count
        How many there are at most.
    function
        What they carry out; it must come from a module, as all that it is given.
    """

    def __init__(self, count: int, function: Callable[[Argument], Answer]) -> None:
        self._function = _pickled(function)
        self._threads = ThreadPoolExecutor(count, "workers")
        self._own = threading.local()
        self._lock = threading.Lock()
        self._all: list[subprocess.Popen[bytes]] = []
        self._is_closed = False

    def __enter__(self) -> Workers[Argument, Answer]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all processes, whatever they are at."""
        with self._lock:
            self._is_closed = True
            for process in self._all:
                process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._all:
            process.communicate()

    def submit(self, argument: Argument) -> Future[Answer]:
        """Have the function carried out; its errors and warnings are raised here.

        The future raises `WorkerDied` if the process dies, and `InputError` for an argument
        that cannot be sent.
        """
        return self._threads.submit(self._carry_out, argument)

    def _carry_out(self, argument: Argument) -> Answer:
        data = _pickled(argument)
        try:
            process = self._process()
            assert process.stdin is not None
            assert process.stdout is not None
            send(process.stdin, data)
            done, value, told = pickle.loads(receive(process.stdout))
        except (OSError, EOFError):
            raise WorkerDied("a process died, most likely for want of memory.") from None
        for warning in told:
            warnings.warn(warning, stacklevel=2)
        if not done:
            raise value
        answer: Answer = value
        return answer

    def _process(self) -> subprocess.Popen[bytes]:
        """Return the process of this thread, which is started when it is first needed."""
        if not hasattr(self._own, "process"):
            with self._lock:
                if self._is_closed:
                    raise EOFError
                process = start("metasage.runtime.worker")
                self._all.append(process)
            assert process.stdin is not None
            send(process.stdin, pickle.dumps(sys.path))
            send(process.stdin, self._function)
            self._own.process = process
        found: subprocess.Popen[bytes] = self._own.process
        return found


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception as error:  # whatever classes of the user raise
        raise InputError(
            f"with several jobs everything is sent to other processes, and this cannot be: {error}."
        ) from None
