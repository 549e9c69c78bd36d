"""Sampling: random rollouts of the policy as it is, round after round."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from metasage.adaptation.method import Method, Strategy
from metasage.values import Temperature

if TYPE_CHECKING:
    from metasage.adaptation.task import Task
    from metasage.rollout.interface import Rollouts


@dataclass(frozen=True, kw_only=True)
class Sampling(Method):
    """Rounds of sampled rollouts, without any adaptation.

    Parameters
    ----------
    temperature
        Divisor of the logits.
    """

    name = "sample"

    temperature: Temperature = 1.0

    def start(self, task: Task) -> Strategy:  # noqa: D102
        return _SamplingStrategy(task, self.temperature)


class _SamplingStrategy(Strategy):
    def __init__(self, task: Task, temperature: float) -> None:
        self.task = task
        self.decoding = replace(task.decoding, temperature=temperature)

    def rollout(self, iteration: int, progress: float) -> Rollouts:
        return self.task.rollout(self.decoding, iteration)
