"""When to stop. Criteria are called once an iteration and compose."""

from __future__ import annotations

import time
from typing import Protocol

from metasage.errors import InputError


class StoppingCriterion(Protocol):
    """Called before each iteration; True ends the search."""

    def __call__(self, iteration: int, objective: float | None) -> bool:
        """Decide whether to stop.

        Parameters
        ----------
        iteration
            Number of iterations done.
        objective
            Best objective so far in the problem's own sense, if there is one.
        """
        ...


class MaxIterations:
    """Stops after a number of iterations.

    Parameters
    ----------
    iterations
        The number.
    """

    def __init__(self, iterations: int) -> None:
        if iterations < 0:
            raise InputError(f"iterations is {iterations} and must not be negative.")
        self.iterations = iterations

    def __call__(self, iteration: int, objective: float | None) -> bool:  # noqa: D102
        return iteration >= self.iterations


class MaxRuntime:
    """Stops after a time, counted from when the criterion is made: one for each search.

    The deadline is also watched inside rollouts.

    Parameters
    ----------
    seconds
        The time.
    """

    def __init__(self, seconds: float) -> None:
        if not seconds >= 0:
            raise InputError(f"the time limit is {seconds} and must not be negative.")
        self.seconds = seconds
        self.started = time.monotonic()

    @property
    def deadline(self) -> float:
        """Time of `time.monotonic` at which the time is over."""
        return self.started + self.seconds

    def __call__(self, iteration: int, objective: float | None) -> bool:  # noqa: D102
        return time.monotonic() >= self.deadline


class Target:
    """Stops once an objective is reached.

    Parameters
    ----------
    objective
        The objective that is good enough.
    sense
        Whether smaller ("min") or larger ("max") is better.
    """

    def __init__(self, objective: float, sense: str = "min") -> None:
        self.objective = objective
        self.sense = sense

    def __call__(self, iteration: int, objective: float | None) -> bool:  # noqa: D102
        if objective is None:
            return False
        return objective <= self.objective if self.sense == "min" else objective >= self.objective


class NoImprovement:
    """Stops after so many iterations without a better solution.

    Parameters
    ----------
    iterations
        The number.
    """

    def __init__(self, iterations: int) -> None:
        if iterations < 1:
            raise InputError(f"iterations is {iterations} and must be at least 1.")
        self.iterations = iterations
        self.best: float | None = None
        self.since = 0

    def __call__(self, iteration: int, objective: float | None) -> bool:  # noqa: D102
        if objective != self.best:
            self.best, self.since = objective, iteration
        return iteration - self.since >= self.iterations


class FirstOf:
    """Stops when any of several criteria does.

    Parameters
    ----------
    criteria
        The criteria.
    """

    def __init__(self, *criteria: StoppingCriterion) -> None:
        self.criteria = criteria

    def __call__(self, iteration: int, objective: float | None) -> bool:  # noqa: D102
        # Every criterion is asked, since some keep count.
        answers = [criterion(iteration, objective) for criterion in self.criteria]
        return any(answers)


def planned_by(stop: StoppingCriterion | None) -> int | None:
    """Return the smallest number of iterations among criteria."""
    if isinstance(stop, MaxIterations):
        return stop.iterations
    if isinstance(stop, FirstOf):
        numbers = [found for part in stop.criteria if (found := planned_by(part)) is not None]
        return min(numbers, default=None)
    return None


def targets_of(stop: StoppingCriterion | None) -> list[Target]:
    """Return the objectives among criteria that are good enough."""
    if isinstance(stop, Target):
        return [stop]
    parts = stop.criteria if isinstance(stop, FirstOf) else ()
    return [target for part in parts for target in targets_of(part)]


def deadline_of(stop: StoppingCriterion | None) -> MaxRuntime | None:
    """Return the earliest time limit among criteria."""
    if isinstance(stop, MaxRuntime):
        return stop
    if isinstance(stop, FirstOf):
        limits = [found for part in stop.criteria if (found := deadline_of(part)) is not None]
        return min(limits, key=lambda limit: limit.deadline, default=None)
    return None
