"""Hooks into the search."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metasage.adaptation.result import Result
    from metasage.problems import Instance, Solution


class Callbacks:
    """Does nothing; override what you need."""

    def on_start(self, instance: Instance) -> None:
        """Hear that an instance is about to be solved."""

    def on_best(self, solution: Solution, objective: float, iteration: int) -> None:
        """Hear of a new best solution."""

    def on_iteration(self, iteration: int, objective: float | None, seconds: float) -> None:
        """Hear that an iteration is over."""

    def on_local_search(self, objective: float, seconds: float) -> None:
        """Hear that the local search after the last iteration found something better."""

    def on_end(self, result: Result) -> None:
        """Hear of the result."""
