"""What every baseline is: a name, the problems it solves, and one function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from metasage.errors import InputError, MetasageError
from metasage.numbers import require_seed, require_time_limit
from metasage.problems import Instance, Solution, require_feasible
from metasage.solving.record import Record

Listener = Callable[[float, float], None]
"""Hears of seconds and objective at each improvement."""

VEHICLES, ROUTE_LENGTH, DIRECTION = "vehicles", "max_route_length", "is_directed"

LIMITS = {
    VEHICLES: "a number of vehicles",
    ROUTE_LENGTH: "a greatest route length",
    DIRECTION: "lengths that differ by direction",
}
"""What an instance may ask for beyond its problem, by attribute, and what to call it."""


class BaselineError(MetasageError):
    """A baseline did not deliver a feasible solution, and the text says why."""

    exit_code = 1


@dataclass(frozen=True)
class Outcome:
    """What a baseline found.

    Parameters
    ----------
    solution
        The best solution; it is feasible.
    objective
        What the independent checker measured.
    seconds
        Time that the baseline took.
    curve
        Seconds and objective at each improvement.
    note
        What a reader of the number should know, in a few words.
    """

    solution: Solution
    objective: float
    seconds: float
    curve: tuple[tuple[float, float], ...]
    note: str = ""


class Track:
    """Where a running baseline hands in solutions; the checker measures each.

    Parameters
    ----------
    instance
        The instance.
    seconds
        The time limit.
    listener
        Who wants to hear of improvements.

    Attributes
    ----------
    violation
        What was wrong with the last solution that was not feasible.
    note
        What a reader of the result should know.
    was_ended
        Whether the solver was still at work when its time was over.
    """

    def __init__(self, instance: Instance, seconds: float, listener: Listener | None) -> None:
        self.instance, self.limit, self.listener = instance, seconds, listener
        self.record = Record(instance)
        self.violation = ""
        self.note = ""
        self.was_ended = False

    def seconds(self) -> float:
        """Seconds since the start."""
        return self.record.seconds

    @property
    def best(self) -> Solution | None:
        """The best solution so far, if there is a feasible one."""
        return None if self.record.objective is None else self.record.best

    @property
    def curve(self) -> tuple[tuple[float, float], ...]:
        """Seconds and objective at each improvement."""
        return tuple((seconds, objective) for seconds, _, objective in self.record.curve)

    def left(self) -> float:
        """Seconds that are left, 0 when the time is over."""
        return max(0.0, self.limit - self.seconds())

    def offer(self, solution: Solution) -> bool:
        """Take a solution if it is feasible and better, and say whether it was."""
        improvements = len(self.record.curve)
        verdict = self.record.offer(solution)
        if verdict.violation is not None:
            self.violation = verdict.violation
        if len(self.record.curve) == improvements:
            return False
        if self.listener is not None:
            self.listener(*self.curve[-1])
        return True


class Baseline(ABC):
    """A solver of others, or a simple heuristic."""

    name: ClassVar[str]
    problems: ClassVar[tuple[str, ...]]
    """Names of the problems that it solves."""
    hint: ClassVar[str]
    """How to get it, as the end of a sentence."""
    in_child: ClassVar[bool] = False
    """Whether it runs in a process of its own, since it cannot be stopped at any time."""
    keeps: ClassVar[frozenset[str]] = frozenset()
    """Which of the limits it knows."""

    def is_available(self) -> bool:
        """Whether it can run here."""
        return True

    def takes_part(self, instance: Instance) -> bool:
        """Whether it solves the problem of an instance."""
        return instance.problem.name in self.problems

    @abstractmethod
    def search(self, instance: Any, track: Track, seed: int) -> None:
        """Offer solutions to the track until its time is over, or nothing better is to come."""

    def require_limits(self, instance: Instance) -> None:
        """Complain about an instance that asks for what the baseline does not know."""
        asked = [limit for limit in LIMITS if getattr(instance, limit, None)]
        unknown = [LIMITS[limit] for limit in asked if limit not in self.keeps]
        if unknown:
            raise InputError(f"{self.name} does not know {' or '.join(unknown)}.")

    def finish(self, instance: Any, track: Track) -> None:
        """Do what is to be done when the search is over, however it ended."""
        return None

    def solve(
        self,
        instance: Instance,
        seconds: float,
        seed: int = 1234,
        listener: Listener | None = None,
    ) -> Outcome:
        """Solve an instance.

        Parameters
        ----------
        instance
            The instance.
        seconds
            Time limit, within a second or 5 percent.
        seed
            Seed of what is random.
        listener
            Who wants to hear of improvements.

        Raises
        ------
        InputError
            If the baseline is not installed, or does not solve such instances.
        InfeasibleError
            If the instance has no feasible solution.
        BaselineError
            If it found no feasible solution in time.
        """
        seconds = require_time_limit(seconds)
        seed = require_seed(seed)
        if not self.takes_part(instance):
            raise InputError(
                f"{self.name} solves {', '.join(self.problems)}, not {instance.problem.name}."
            )
        if not self.is_available():
            raise InputError(f"{self.name} is not installed: {self.hint}.")
        self.require_limits(instance)
        require_feasible(instance)
        track = Track(instance, seconds, listener)
        if self.in_child:
            from metasage.baselines.child import search_in_child

            search_in_child(self.name, track, seed)
        else:
            self.search(instance, track, seed)
        self.finish(instance, track)
        best, objective = track.best, track.record.objective
        if best is None or objective is None:
            reason = f": {track.violation}" if track.violation else " in time."
            raise BaselineError(f"{self.name} found no feasible solution{reason}")
        return Outcome(best, objective, track.seconds(), track.curve, track.note)
