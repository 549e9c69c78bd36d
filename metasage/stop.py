"""When to stop. Criteria are asked again and again, and compose."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Literal, Protocol, TypeVar

from metasage.errors import InputError
from metasage.numbers import as_number, require_count

AnyNumber = TypeVar("AnyNumber", int, float)


class StoppingCriterion(Protocol):
    """Asked before each iteration, and during local search; True ends the search.

    Any callable will do. One that also has the attributes of `Criterion` is told when a
    search begins, and lets it plan ahead.
    """

    def __call__(self, iteration: int, objective: float | None) -> bool:
        """Decide whether to stop.

        Parameters
        ----------
        iteration
            Number of the network's iterations so far; 0 in local search, which has none.
        objective
            Best objective so far in the problem's own sense, if there is one.
        """
        ...


class Criterion:
    """A criterion that says beforehand what is known of its decision.

    Attributes
    ----------
    seconds
        Time after which it stops, at the latest.
    iterations
        Number of the network's iterations after which it stops, at the latest.
    """

    seconds: float | None = None
    iterations: int | None = None

    def begin(self, started: float, sense: Literal["min", "max"]) -> None:
        """Forget earlier searches: one begins.

        Parameters
        ----------
        started
            Time of `time.monotonic` from which its seconds count.
        sense
            Whether smaller or larger objectives are better.
        """

    def __call__(self, iteration: int, objective: float | None) -> bool:
        """Decide whether to stop; see `StoppingCriterion`."""
        return False


class MaxIterations(Criterion):
    """Stops the network after a number of iterations; local search may follow.

    Parameters
    ----------
    iterations
        The number.
    """

    def __init__(self, iterations: int) -> None:
        self.iterations: int = require_count("iterations", iterations)

    def __call__(self, iteration: int, objective: float | None) -> bool:  # noqa: D102
        return iteration >= self.iterations


class MaxRuntime(Criterion):
    """Stops after a time, counted from the start of each search.

    The deadline is also watched inside rollouts and in local search.

    Parameters
    ----------
    seconds
        The time.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds: float = _number("the time limit", seconds)
        if self.seconds < 0:
            raise InputError(f"the time limit is {seconds} and must not be negative.")
        self._started = time.monotonic()

    def begin(self, started: float, sense: Literal["min", "max"]) -> None:  # noqa: D102
        self._started = started

    def __call__(self, iteration: int, objective: float | None) -> bool:  # noqa: D102
        return time.monotonic() >= self._started + self.seconds


class Target(Criterion):
    """Stops once an objective is reached.

    Parameters
    ----------
    objective
        The objective that is good enough.
    sense
        Whether smaller ("min") or larger ("max") is better; as the problem has it by
        default.
    """

    def __init__(self, objective: float, sense: Literal["min", "max"] | None = None) -> None:
        self.objective = _number("the target", objective)
        if sense not in (None, "min", "max"):
            raise InputError(f"the sense of a target is '{sense}' and must be min or max.")
        self._given, self._sense = sense, sense or "min"

    def begin(self, started: float, sense: Literal["min", "max"]) -> None:  # noqa: D102
        self._sense = self._given or sense

    def __call__(self, iteration: int, objective: float | None) -> bool:  # noqa: D102
        if objective is None:
            return False
        sign = 1 if self._sense == "min" else -1
        return sign * objective <= sign * self.objective


class NoImprovement(Criterion):
    """Stops the network after so many iterations without a better solution.

    Parameters
    ----------
    iterations
        The number.
    """

    def __init__(self, iterations: int) -> None:
        self._patience = require_count("iterations", iterations)
        self._best: float | None = None
        self._since = 0

    def begin(self, started: float, sense: Literal["min", "max"]) -> None:  # noqa: D102
        self._best, self._since = None, 0

    def __call__(self, iteration: int, objective: float | None) -> bool:  # noqa: D102
        if objective != self._best:
            self._best, self._since = objective, iteration
        return iteration - self._since >= self._patience


class FirstOf(Criterion):
    """Stops when any of several criteria does.

    Parameters
    ----------
    criteria
        The criteria: anything that `solve` takes as ``stop``.
    """

    def __init__(self, *criteria: StoppingCriterion | threading.Event) -> None:
        self._parts: Sequence[Criterion] = [as_criterion(one) for one in criteria]
        self.seconds = _least([part.seconds for part in self._parts])
        self.iterations = _least([part.iterations for part in self._parts])

    def begin(self, started: float, sense: Literal["min", "max"]) -> None:  # noqa: D102
        for part in self._parts:
            part.begin(started, sense)

    def __call__(self, iteration: int, objective: float | None) -> bool:  # noqa: D102
        # Every criterion is asked, since some keep count.
        answers = [part(iteration, objective) for part in self._parts]
        return any(answers)


class _Own(Criterion):
    """A function of the user's, or an object that has all that a `Criterion` has."""

    def __init__(self, function: StoppingCriterion) -> None:
        self._function = function
        self._begin = getattr(function, "begin", None)
        if not callable(self._begin):
            return
        if (seconds := getattr(function, "seconds", None)) is not None:
            self.seconds = MaxRuntime(seconds).seconds
        if (iterations := getattr(function, "iterations", None)) is not None:
            self.iterations = MaxIterations(iterations).iterations

    def begin(self, started: float, sense: Literal["min", "max"]) -> None:
        if callable(self._begin):
            self._begin(started, sense)

    def __call__(self, iteration: int, objective: float | None) -> bool:
        return bool(self._function(iteration, objective))


class _OnEvent(Criterion):
    """Stops once another thread sets an event."""

    def __init__(self, event: threading.Event) -> None:
        self._event = event

    def __call__(self, iteration: int, objective: float | None) -> bool:
        return self._event.is_set()


def as_criterion(stop: StoppingCriterion | threading.Event | None) -> Criterion:
    """Return what a user gave as a criterion; None never stops.

    Raises
    ------
    InputError
        If it is neither a callable nor an event.
    """
    if stop is None:
        return Criterion()
    if isinstance(stop, Criterion):
        return stop
    if isinstance(stop, threading.Event):
        return _OnEvent(stop)
    if not callable(stop) or isinstance(stop, type):
        raise InputError(f"stop is {stop!r}, and a criterion was expected, such as MaxRuntime(10).")
    return _Own(stop)


def _number(name: str, value: float) -> float:
    if (number := as_number(value)) is None:
        raise InputError(f"{name} is {value!r}, and a number was expected.")
    return number


def _least(values: Sequence[AnyNumber | None]) -> AnyNumber | None:
    return min((value for value in values if value is not None), default=None)
