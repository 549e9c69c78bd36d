"""What a method is: settings, and the strategy they start.

Settings are known without torch, so that they are checked before it is loaded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from metasage.adaptation.published import ITERATIONS
from metasage.errors import InputError
from metasage.values import Copies, Count, require_valid

if TYPE_CHECKING:
    from metasage.adaptation.task import Task
    from metasage.policies.model import Model
    from metasage.problems import Solution
    from metasage.rollout.interface import Rollouts


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """Settings of a method; annotations say what values are allowed (`metasage.values`).

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
        instances fast; by default what the network says, or all.
    """

    name: ClassVar[str]

    repeats: ClassVar[bool] = True
    """Whether another iteration may find something new."""

    uses_sml: ClassVar[bool] = False
    """Whether it starts from the scale meta-learner unless told otherwise."""

    iterations: Count | None = None
    rollouts: Count | None = None
    augment: Copies = 1
    neighbours: Count | None = None

    def __post_init__(self) -> None:
        require_valid(self)

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
        except (AttributeError, TypeError, InputError):
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

    def learn(self, rollouts: Rollouts, best: Solution | None) -> None:
        """Change the policy in the light of what was found; by default, nothing.

        Parameters
        ----------
        rollouts
            What `rollout` returned.
        best
            The best solution so far, whoever found it.
        """
        return None

    def chosen(self) -> dict[str, Any]:
        """Return settings that were left open and that the strategy found; by default, none."""
        return {}
