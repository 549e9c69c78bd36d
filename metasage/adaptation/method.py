"""What a method is: settings, and the strategy they start."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self

from metasage.adaptation.published import ITERATIONS
from metasage.adaptation.result import Incumbent
from metasage.adaptation.task import Task
from metasage.errors import InputError
from metasage.numbers import require_augmentation
from metasage.policies.model import Model
from metasage.rollout.interface import Rollouts


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """Settings of a method.

    Parameters
    ----------
    iterations
        Planned number of iterations, which is also the horizon of schedules.
        None leaves it to a time limit, or to the problem's default.
    rollouts
        Rollouts of each symmetric copy in an iteration; the size of the
        instance by default.
    augment
        Number of symmetric copies: 1, 2, 4 or 8.
    neighbours
        Number of nearest allowed nodes that a step looks at, which makes large
        instances fast; all by default.
    """

    name: ClassVar[str]

    repeats: ClassVar[bool] = True
    """Whether another iteration may find something new."""

    uses_sml: ClassVar[bool] = False
    """Whether it starts from the scale meta-learner unless told otherwise."""

    iterations: int | None = None
    rollouts: int | None = None
    augment: int = 1
    neighbours: int | None = None

    def __post_init__(self) -> None:
        if self.iterations is not None and self.iterations < 1:
            raise InputError(f"iterations is {self.iterations} and must be at least 1.")
        if self.rollouts is not None and self.rollouts < 1:
            raise InputError(f"rollouts is {self.rollouts} and must be at least 1.")
        require_augmentation(self.augment)
        if self.neighbours is not None and self.neighbours < 1:
            raise InputError(f"neighbours is {self.neighbours} and must be at least 1.")

    @abstractmethod
    def start(self, task: Task) -> Strategy:
        """Begin to solve a task."""

    def default_iterations(self, problem: str) -> int:
        """Return the number of iterations where neither it nor a time limit is given."""
        return int(ITERATIONS[problem][0])

    def defaults(self, problem: str) -> dict[str, Any]:
        """Return what a problem takes for settings that are left None."""
        return {}

    def resolved(self, problem: str) -> Self:
        """Return the settings with a problem's defaults filled in."""
        defaults = self.defaults(problem).items()
        return replace(self, **{name: v for name, v in defaults if getattr(self, name) is None})

    def suited(self, model: Model) -> Self:
        """Return the settings with those filled in that a network comes with.

        Raises
        ------
        InputError
            If the network suggests what the method does not know.
        """
        suggested = model.suggestions(self.name)
        try:
            return replace(self, **{n: v for n, v in suggested.items() if getattr(self, n) is None})
        except (AttributeError, TypeError):
            raise InputError(
                f"the settings that {model.name} suggests for {self.name} are not understood."
            ) from None

    def parameters(self, problem: str) -> dict[str, Any]:
        """Return the settings, as they are for a problem, as plain data."""
        return asdict(self.resolved(problem))


class Strategy(ABC):
    """A method at work on one task."""

    @abstractmethod
    def rollout(self, iteration: int, progress: float) -> Rollouts:
        """Construct solutions.

        Parameters
        ----------
        iteration
            Number of the iteration, from 0.
        progress
            How far the search has come, from 0 to 1; schedules follow it.
        """

    def learn(self, rollouts: Rollouts, incumbent: Incumbent) -> None:
        """Change the policy in the light of what was found; by default, nothing."""
        return None

    def chosen(self) -> dict[str, Any]:
        """Return settings that were left open and that the strategy found; by default, none."""
        return {}
