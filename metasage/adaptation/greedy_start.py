"""The first iteration of SAGE's `default`: greedy, and a trial of the locality bias."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

from torch import Tensor

from metasage.adaptation.method import Strategy
from metasage.adaptation.objective import Objective
from metasage.adaptation.published import ByProblem
from metasage.adaptation.result import Incumbent
from metasage.adaptation.schedule import BiasSchedule, Geometric
from metasage.adaptation.task import Task
from metasage.rollout.interface import Decoding, Rollouts

# Strengths of the bias that are tried; without a trial it is the first. Measured: on the
# CVRP the better one depends on the network, elsewhere one serves all.
STRENGTHS = ByProblem(tsp=(40.0,), cvrp=(10.0, 40.0), pctsp=(20.0,), op=(20.0,))

# What greedy tours may lose by a stronger bias: sampled ones stray further, and gain.
_TOLERANCE = 0.005


@dataclass(frozen=True)
class Guide:
    """Bias and temperature of an iteration.

    Parameters
    ----------
    bias, temperature
        Their schedules.
    horizon
        Iterations over which they run, if not over the planned ones.
    """

    bias: BiasSchedule | None
    temperature: Geometric
    horizon: int | None

    def decoding(self, task: Task, iteration: int, progress: float) -> Decoding:
        """Say how choices are made in an iteration."""
        if self.horizon is not None:
            progress = iteration / self.horizon
        bias = None if self.bias is None else self.bias.at(progress, task.instance.size)
        return replace(task.decoding, temperature=self.temperature.at(progress), bias=bias)


class Guided(Protocol):
    """A strategy that follows a guide and imitates a target."""

    guide: Guide
    objective: Objective
    target: Tensor | None

    def rollout(self, iteration: int, progress: float) -> Rollouts:
        """Construct solutions."""

    def learn(self, rollouts: Rollouts, incumbent: Incumbent) -> None:
        """Change the policy."""


class GreedyStart(Strategy):
    """One greedy iteration, shared by the guides that are tried; then samples follow the best.

    The samples imitate what the greedy rollouts found. Of the guides the one with
    the strongest bias is kept that greedy tours bear. How strong that is depends on
    the network: one that knows larger instances well needs little bias.

    Parameters
    ----------
    task
        What is solved.
    samples
        What goes on afterwards.
    tried
        The guides.
    """

    def __init__(self, task: Task, samples: Guided, tried: list[Guide]) -> None:
        self.task, self.samples = task, samples
        self.tried = tried[: task.rollouts]
        self.is_first = True

    def rollout(self, iteration: int, progress: float) -> Rollouts:  # noqa: D102
        if not self.is_first:
            return self.samples.rollout(iteration, progress)
        share = replace(self.task, rollouts=self.task.rollouts // len(self.tried))
        parts = []
        for guide in self.tried:
            decoding = guide.decoding(self.task, iteration, progress)
            parts.append(share.rollout(replace(decoding, greedy=True), iteration))
        means = [float(part.cost.mean()) for part in parts]
        self.samples.guide = strongest_borne(self.tried, means)
        return Rollouts.joined(parts)

    def learn(self, rollouts: Rollouts, incumbent: Incumbent) -> None:  # noqa: D102
        if self.is_first:
            if self.samples.objective.replay:
                self.samples.target = self.task.replayed(incumbent)
            self.is_first = False
        else:
            self.samples.learn(rollouts, incumbent)

    def chosen(self) -> dict[str, Any]:  # noqa: D102
        bias = self.samples.guide.bias
        return {} if bias is None else {"alpha": bias.alpha.start, "alpha_end": bias.alpha.end}


def strongest_borne(guides: list[Guide], costs: list[float]) -> Guide:
    """Return the guide with the strongest bias of those that cost about as little as any."""
    best = min(costs)
    bearable = best + _TOLERANCE * abs(best)
    borne = [guide for guide, cost in zip(guides, costs, strict=True) if cost <= bearable]
    return max(borne, key=lambda guide: guide.bias.alpha.start if guide.bias else 0.0)
