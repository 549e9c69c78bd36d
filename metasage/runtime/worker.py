"""A process of `Workers`: ``python -m metasage.runtime.worker PARENT``.

Reads the folders of the parent's modules and a function, then one argument after another;
answers each with what the function returns or raises.
"""

from __future__ import annotations

import os
import pickle
import queue
import sys
import threading
import traceback
import warnings
from typing import Any, BinaryIO

from metasage.errors import InputError
from metasage.runtime.messages import receive, send
from metasage.runtime.processes import claim_output, leave_with_parent, open_closed_streams


def main(parent: str) -> None:
    """Work until there is nothing more to come."""
    open_closed_streams()
    leave_with_parent(int(parent))
    output = claim_output()
    messages: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, messages), daemon=True).start()
    # Modules of the user come last: none of them takes the place of a library.
    sys.path += [folder for folder in pickle.loads(messages.get()) if folder not in sys.path]
    function = messages.get()
    while True:
        send(output, _answer(function, messages.get()))


def _listen(stream: BinaryIO, messages: queue.Queue[bytes]) -> None:
    """Pass messages on; leave, whatever is under way, when there are no more."""
    try:
        while True:
            messages.put(receive(stream))
    finally:
        os._exit(0)


def _answer(function: bytes, argument: bytes) -> bytes:
    """Return, pickled, whether all went well, what came of it, and what was warned of."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default")
        done, value = _carry_out(function, argument)
    told = [warning.message for warning in heard]
    try:
        return pickle.dumps((done, value, told))
    except Exception:
        shown = value if done else "".join(traceback.format_exception(value))
        return pickle.dumps((False, RuntimeError(f"not to be sent: {shown}"), []))


def _carry_out(function: bytes, argument: bytes) -> tuple[bool, Any]:
    try:
        call, given = pickle.loads(function), pickle.loads(argument)
    except Exception as error:
        return False, InputError(
            f"another process cannot load what it was given ({error}): with several jobs, what "
            "is your own must come from a module that can be imported."
        )
    try:
        return True, call(given)
    except Exception as error:
        return False, error


if __name__ == "__main__":
    main(sys.argv[1])
