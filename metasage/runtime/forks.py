"""Threads do not survive a fork: a process that lost them would wait for ever."""

from __future__ import annotations

import os

from metasage.errors import InputError

_used, _lost = False, False


def require_threads_here() -> None:
    """Note that threads are about to work in this process.

    Raises
    ------
    InputError
        If they did so in the process that this one was forked from.
    """
    global _used
    if _lost:
        raise InputError(
            "this process was forked from one whose threads were at work already, and they did "
            "not come along: start it by multiprocessing.get_context('spawn')."
        )
    _used = True


def _forked() -> None:
    global _lost
    _lost = _used


if hasattr(os, "register_at_fork"):  # not everywhere
    os.register_at_fork(after_in_child=_forked)
