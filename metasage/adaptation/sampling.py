"""Sampling: random rollouts of the policy as it is, round after round."""

from __future__ import annotations

from dataclasses import dataclass, replace

from metasage.adaptation.method import Method, Strategy
from metasage.adaptation.task import Task
from metasage.errors import InputError
from metasage.rollout.interface import Decoding, Rollouts


@dataclass(frozen=True, kw_only=True)
class Sampling(Method):
    """Rounds of sampled rollouts, without any adaptation.

    Parameters
    ----------
    temperature
        Divisor of the logits.
    """

    name = "sample"

    temperature: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.temperature > 0:
            raise InputError(f"the temperature is {self.temperature} and must be positive.")

    def start(self, task: Task) -> Strategy:  # noqa: D102
        return _SamplingStrategy(task, replace(task.decoding, temperature=self.temperature))


class _SamplingStrategy(Strategy):
    def __init__(self, task: Task, decoding: Decoding) -> None:
        self.task = task
        self.decoding = decoding

    def rollout(self, iteration: int, progress: float) -> Rollouts:
        return self.task.rollout(self.decoding, iteration)
