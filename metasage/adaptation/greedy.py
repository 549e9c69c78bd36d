"""Greedy construction: the policy's most likely choices, once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from metasage.adaptation.method import Method, Strategy

if TYPE_CHECKING:
    from metasage.adaptation.task import Task
    from metasage.rollout.interface import Rollouts


@dataclass(frozen=True, kw_only=True)
class Greedy(Method):
    """Greedy rollouts from many starts, without any adaptation."""

    name = "greedy"
    repeats = False

    def start(self, task: Task) -> Strategy:  # noqa: D102
        return _GreedyStrategy(task)

    def default_iterations(self, problem: str) -> int:  # noqa: D102
        return 1


class _GreedyStrategy(Strategy):
    def __init__(self, task: Task) -> None:
        self.task = task

    def rollout(self, iteration: int, progress: float) -> Rollouts:
        return self.task.rollout(replace(self.task.decoding, greedy=True), iteration)
