"""What the local searches of all problems have in common, and tell the native code."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from metasage.errors import InputError
from metasage.problems import Instance, Solution, check
from metasage.problems.metric import METRICS
from metasage.runtime.interrupts import ENDLESS, Patience
from metasage.runtime.resources import available_cores

Listener = Callable[[float], bool | None]
"""Told the objective of each better solution, which `Improver.best` then is; False ends it."""


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
        """Best solution of the last search, also while it is under way."""

    @abstractmethod
    def starts(self, patience: Patience = ENDLESS) -> list[Solution]:
        """Make solutions that a search may begin with, within a fraction of a second.

        Where the instance has no feasible solution, they are infeasible, too.

        Parameters
        ----------
        patience
            When plainer ones are better than none.
        """

    @abstractmethod
    def search(
        self,
        starts: Sequence[Solution],
        *,
        patience: Patience = ENDLESS,
        kicks: int | None = None,
        seed: int = 0,
        listener: Listener | None = None,
    ) -> None:
        """Search from solutions; what is found is `best`, and nobody has checked it.

        Parameters
        ----------
        starts
            Solutions to start from, the best one first.
        patience
            When to come back.
        kicks
            Number of kicks or iterations to spend. If it is what ends the search,
            the result depends on the seed alone.
        seed
            Seed of everything random.
        listener
            Told of each better solution, by the thread that called.
        """

    def construct(self, patience: Patience = ENDLESS) -> Solution:
        """Make one feasible solution, if there is any, within a fraction of a second."""
        first, *others = self.starts(patience)
        for other in others:
            first = self._better(first, other)
        return first

    def polish(
        self, solutions: Sequence[Solution], *, patience: Patience = ENDLESS
    ) -> list[Solution]:
        """Descend from each solution to a local optimum of its own.

        Parameters
        ----------
        solutions
            Feasible solutions.
        patience
            When to come back, with less.

        Returns
        -------
        list
            As many solutions, none worse than the one given in its place.
        """
        polished = self._polish(solutions, patience)
        return [self._better(old, new) for old, new in zip(solutions, polished, strict=True)]

    def improve(
        self,
        solutions: Sequence[Solution] = (),
        *,
        seconds: float | None = None,
        kicks: int | None = None,
        seed: int = 0,
        patience: Patience = ENDLESS,
        listener: Listener | None = None,
    ) -> Solution:
        """Improve the best of some solutions, or one made without them.

        Parameters
        ----------
        solutions
            Feasible solutions to start from.
        seconds
            Time to spend.
        kicks, seed, patience, listener
            As for `search`.

        Returns
        -------
        Solution
            A solution that is at least as good as each of the given ones, by the checker.
        """
        if seconds is not None:
            if not seconds >= 0:
                raise InputError(f"the time limit is {seconds} and must not be negative.")
            patience = patience.until(time.monotonic() + seconds)
        if patience.deadline is None and kicks is None:
            raise InputError("an improvement needs a number of seconds or of kicks.")
        if kicks is not None and kicks < 0:
            raise InputError(f"kicks is {kicks} and must not be negative.")
        if seed < 0:
            raise InputError(f"seed is {seed} and must not be negative.")
        for solution in solutions:
            if violation := check(self.instance, solution).violation:
                raise InputError(f"the solution to improve is infeasible: {violation}")
        starts = list(solutions) or self.starts(patience)
        rank = self.instance.problem.rank
        starts.sort(key=lambda start: rank(check(self.instance, start)))
        self.search(starts, patience=patience, kicks=kicks, seed=seed % 2**32, listener=listener)
        found = self.best
        return starts[0] if found is None else self._better(starts[0], found)

    @abstractmethod
    def _polish(self, solutions: Sequence[Solution], patience: Patience) -> Sequence[Solution]: ...

    def _better(self, old: Solution, new: Solution) -> Solution:
        """Choose by the checker, whose word is the last; the new one if they are equal."""
        rank = self.instance.problem.rank
        is_worse = rank(check(self.instance, new)) > rank(check(self.instance, old))
        return old if is_worse else new


def measured_by_places(instance: Instance) -> bool:
    """Say whether the native code measures edges itself; else it is given a matrix."""
    return instance.matrix is None and instance.metric.name in METRICS


def native_lengths(instance: Instance) -> dict[str, Any]:
    """Describe how edges are measured to the native code."""
    if measured_by_places(instance):
        measure, rounding = instance.metric.name, instance.metric.rounding
        return {"measure": measure, "rounding": rounding, "data": instance.coords}
    matrix = np.ascontiguousarray(instance.length_matrix())
    return {"measure": "EXPLICIT", "rounding": "none", "data": matrix}


def native_effort(threads: int, patience: Patience, seed: int) -> dict[str, Any]:
    """Describe to the native code how much it may do."""
    return {
        "threads": threads,
        "seed": seed,
        "seconds_left": patience.seconds_left,
        "stopped": patience.stopped,
    }
