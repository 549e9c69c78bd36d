"""Hooks into a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metasage.problems import Instance, Solution
    from metasage.solving.result import Result


class Callbacks:
    """Called while an instance is solved; does nothing: override what you need.

    What a callback raises ends the search and is raised by `solve`.
    """

    def on_start(self, instance: Instance) -> None:
        """Note that the search of an instance begins."""

    def on_stage(self, name: str) -> None:
        """Note that a part of the search begins: network, construction or local search."""

    def on_best(self, solution: Solution, objective: float, iteration: int) -> None:
        """Note a feasible solution that is better than all before, whoever found it."""

    def on_iteration(self, iteration: int, objective: float | None, seconds: float) -> None:
        """Note that an iteration of the network is over."""

    def on_end(self, result: Result) -> None:
        """Note the result, before `solve` returns it."""
