"""The first iteration of SAGE's `default`: greedy, and a trial of the locality bias."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from metasage.adaptation.guidance import Guide, Guided
from metasage.adaptation.method import Strategy
from metasage.adaptation.task import Task
from metasage.problems import Solution
from metasage.rollout.interface import Rollouts

# What greedy tours may lose by a stronger bias: sampled ones stray further, and gain.
_TOLERANCE = 0.005


class GreedyStart(Strategy):
    """One greedy iteration, shared by the guides that are tried; then samples follow the best.

    The samples imitate what the greedy rollouts found. Of the guides the one with
    the strongest bias is kept by which greedy tours lose little. How strong that is depends on
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
        self.samples.guide = strongest_tolerated(self.tried, means)
        return Rollouts.joined(parts)

    def learn(self, rollouts: Rollouts, best: Solution | None) -> None:  # noqa: D102
        if self.is_first:
            if self.samples.update.replay:
                self.samples.target = self.task.replayed(best)
            self.is_first = False
        else:
            self.samples.learn(rollouts, best)

    def chosen(self) -> dict[str, Any]:  # noqa: D102
        bias = self.samples.guide.bias
        return {} if bias is None else {"alpha": bias.alpha.start, "alpha_end": bias.alpha.end}


def strongest_tolerated(guides: list[Guide], costs: list[float]) -> Guide:
    """Return the guide with the strongest bias of those that cost about as little as any."""
    least = min(costs)
    most = least + _TOLERANCE * abs(least)
    tolerated = [guide for guide, cost in zip(guides, costs, strict=True) if cost <= most]
    return max(tolerated, key=lambda guide: guide.bias.alpha.start if guide.bias else 0.0)
