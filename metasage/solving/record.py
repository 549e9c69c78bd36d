"""The best solution so far: the one place that checks solutions, and tells of better ones."""

from __future__ import annotations

import time
from collections.abc import Callable

from metasage.problems import Check, Instance, Solution, check
from metasage.solving.callbacks import Callbacks
from metasage.stop import Criterion

Curve = list[tuple[float, int, float]]
Stage = tuple[str, float, float]

INITIAL, NETWORK = "initial solution", "network"
CONSTRUCTION, LOCAL_SEARCH = "construction", "local search"


class Record:
    """The best solution of a search and how it came about.

    Parameters
    ----------
    instance
        The instance.
    stop
        When the search shall end; never by default.
    callbacks
        Who is told of the progress.
    started
        Time of `time.monotonic` from which seconds count; now by default.

    Attributes
    ----------
    best, check
        The best solution and the checker's verdict on it; None before the first one.
    found_by
        Name of the part that found it.
    curve
        Seconds, iteration and objective at each improvement.
    stages
        Name, end in seconds and best objective of its own of each part that is over.
    iteration
        Number of the network's iterations so far.
    interrupted
        Tells whether the user ends the search.
    telling
        Seconds that callbacks have taken to hear of better solutions.
    """

    def __init__(
        self,
        instance: Instance,
        stop: Criterion | None = None,
        callbacks: Callbacks | None = None,
        started: float | None = None,
    ) -> None:
        self.instance = instance
        self.stop = Criterion() if stop is None else stop
        self.callbacks = Callbacks() if callbacks is None else callbacks
        self.started = time.monotonic() if started is None else started
        self.best: Solution | None = None
        self.check: Check | None = None
        self.found_by = ""
        self.curve: Curve = []
        self.stages: list[Stage] = []
        self.iteration = 0
        self.interrupted: Callable[[], bool] = lambda: False
        self.telling = 0.0
        self._part = ""
        self._known: float | None = None
        self.stop.begin(self.started, instance.problem.sense)

    @property
    def objective(self) -> float | None:
        """Best objective in the problem's own sense, if there is a feasible solution."""
        if self.check is None or not self.check.feasible:
            return None
        return self.check.objective

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def begin(self, part: str) -> None:
        """Note that another part of the search is at work."""
        self._part = part
        if part != INITIAL:
            self.callbacks.on_stage(part)

    def end(self, objective: float | None) -> None:
        """Note that a part is over, and the best objective of its own."""
        if objective is not None:
            self.stages.append((self._part, self.seconds, objective))

    def offer(self, solution: Solution) -> Check:
        """Check a solution, and keep it if it is better than all before.

        Any feasible one is better than one that is not, which is better than none.
        """
        verdict = check(self.instance, solution)
        rank = self.instance.problem.rank
        if self.check is not None and rank(verdict) >= rank(self.check):
            return verdict
        self.best, self.check, self.found_by = solution, verdict, self._part
        if self.objective is not None:
            self.curve.append((self.seconds, self.iteration, self.objective))
            if self._part != INITIAL:
                began = time.monotonic()
                self.callbacks.on_best(solution, self.objective, self.iteration)
                self.telling += time.monotonic() - began
        return verdict

    def end_iteration(self) -> None:
        """Note that the network has learned from another iteration."""
        self.iteration += 1
        self.callbacks.on_iteration(self.iteration, self.objective, self.seconds)

    def is_over(self, objective: float | None = None) -> bool:
        """Whether the search shall end now, be it in the middle of something.

        Parameters
        ----------
        objective
            One that was found and not offered yet.
        """
        sign = self.instance.problem.sign
        for value in (self.objective, objective):
            if value is not None and (self._known is None or sign * value < sign * self._known):
                self._known = value
        iteration = self.iteration if self._part == NETWORK else 0
        return self.interrupted() or self.stop(iteration, self._known)
