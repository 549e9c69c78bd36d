"""What the local searches of all problems have in common."""

from __future__ import annotations

import math
import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from metasage.errors import InputError
from metasage.problems import Instance, Solution, check

Listener = Callable[[float, float], None]
"""Told of each better solution: seconds since the start, and its objective."""


_CPU_MAX = Path("/sys/fs/cgroup/cpu.max")


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not everywhere
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min(cores, _quota()))


def _quota() -> int:
    """Return the cores that a container may use at once, which affinity does not tell."""
    try:
        quota, period = _CPU_MAX.read_text(encoding="ascii").split()
        return math.ceil(int(quota) / int(period))
    except (OSError, ValueError):  # none, or "max"
        return sys.maxsize


def seconds_left(deadline: float | None) -> float | None:
    """Return the time until a deadline of `time.monotonic`; None where there is none."""
    return None if deadline is None else deadline - time.monotonic()


class Improver(ABC):
    """Local search of one instance; what depends on the instance alone is made once.

    Parameters
    ----------
    instance
        The instance.
    threads
        Cores to use; None for all.
    """

    def __init__(self, instance: Instance, threads: int | None = None) -> None:
        self.instance = instance
        self.threads = available_cores() if threads is None else threads
        if self.threads < 1:
            raise InputError(f"threads is {threads} and must be at least 1.")

    @property
    @abstractmethod
    def best(self) -> Solution | None:
        """Best solution of the last call of `improve`, also if an interrupt ended it."""

    @abstractmethod
    def construct(self, deadline: float | None = None) -> Solution:
        """Make a feasible solution within a fraction of a second.

        Where the instance has no feasible solution, the result is infeasible, too.

        Parameters
        ----------
        deadline
            Time of `time.monotonic` by which a plainer one is better than none.
        """

    def polish(
        self, solutions: Sequence[Solution], *, deadline: float | None = None
    ) -> list[Solution]:
        """Descend from each solution to a local optimum of its own.

        Parameters
        ----------
        solutions
            Feasible solutions.
        deadline
            Time of `time.monotonic` at which to come back, with less.

        Returns
        -------
        list
            As many solutions, none worse than the one given in its place.
        """
        polished = self._polish(solutions, deadline)
        return [self._better(old, new) for old, new in zip(solutions, polished, strict=True)]

    def improve(
        self,
        solutions: Sequence[Solution] = (),
        *,
        seconds: float | None = None,
        deadline: float | None = None,
        kicks: int | None = None,
        seed: int = 0,
        listener: Listener | None = None,
    ) -> Solution:
        """Improve the best of some solutions, or one made without them.

        Parameters
        ----------
        solutions
            Feasible solutions to start from.
        seconds
            Time to spend.
        deadline
            Time of `time.monotonic` at which to come back.
        kicks
            Number of kicks or iterations to spend. If it is what ends the search,
            the result depends on the seed alone.
        seed
            Seed of everything random.
        listener
            Told of each better solution.

        Returns
        -------
        Solution
            A solution that is at least as good as each of the given ones.
        """
        started = time.monotonic()
        if seconds is not None:
            if not seconds >= 0:
                raise InputError(f"the time limit is {seconds} and must not be negative.")
            deadline = min(started + seconds, float("inf") if deadline is None else deadline)
        if deadline is None and kicks is None:
            raise InputError("an improvement needs a number of seconds or of kicks.")
        if kicks is not None and kicks < 0:
            raise InputError(f"kicks is {kicks} and must not be negative.")
        if seed < 0:
            raise InputError(f"seed is {seed} and must not be negative.")
        for solution in solutions:
            if violation := check(self.instance, solution).violation:
                raise InputError(f"the solution to improve is infeasible: {violation}")

        def tell(objective: float) -> None:
            if listener is not None:
                listener(time.monotonic() - started, objective)

        starts = list(solutions) or self.starts(deadline)
        found = self._improve(starts, deadline, kicks, seed % 2**32, tell)
        for solution in starts:
            found = self._better(solution, found)
        return found

    def starts(self, deadline: float | None = None) -> list[Solution]:
        """Make the solutions that a search begins with where none are given."""
        return [self.construct(deadline)]

    @abstractmethod
    def _polish(
        self, solutions: Sequence[Solution], deadline: float | None
    ) -> Sequence[Solution]: ...

    @abstractmethod
    def _improve(
        self,
        starts: Sequence[Solution],
        deadline: float | None,
        kicks: int | None,
        seed: int,
        tell: Callable[[float], None],
    ) -> Solution: ...

    def _better(self, old: Solution, new: Solution) -> Solution:
        """Choose by the checker, whose word is the last; the new one if they are equal."""
        before, after = check(self.instance, old), check(self.instance, new)
        if before.feasible != after.feasible:
            return new if after.feasible else old
        assert before.objective is not None
        assert after.objective is not None
        sign = 1 if self.instance.problem.sense == "min" else -1
        return new if sign * after.objective <= sign * before.objective else old
