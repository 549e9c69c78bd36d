"""The table of EAS-Tab."""

from __future__ import annotations

import math
from dataclasses import replace

import torch

from metasage.adaptation.method import Strategy
from metasage.adaptation.resources import one_thread
from metasage.adaptation.task import Task
from metasage.errors import NotFinite
from metasage.problems import Solution
from metasage.rollout.interface import DeadlineReached, EdgeBonus, Rollouts
from metasage.rollout.torch_engine import StepDecoder


class TableAdaptation(Strategy):
    """Samples with a table of bonuses, which favours the edges of the best solution.

    Parameters
    ----------
    task
        What is solved.
    exponent
        Exponent of the policy's probabilities.
    strength
        How much the edges are favoured.
    """

    def __init__(self, task: Task, exponent: float, strength: float) -> None:
        self.task, self.exponent, self.strength = task, exponent, strength
        self.bonus: EdgeBonus | None = None
        self.known: Solution | None = None

    def rollout(self, iteration: int, progress: float) -> Rollouts:  # noqa: D102
        # p ** exponent is the policy at a temperature of one over the exponent.
        temperature = 1.0 / self.exponent
        decoding = replace(self.task.decoding, temperature=temperature, bonus=self.bonus)
        return self.task.rollout(decoding, iteration)

    def learn(self, rollouts: Rollouts, best: Solution | None) -> None:
        """Rebuild the table whenever there is a better solution."""
        if best is None or best is self.known:
            return
        self.known = best
        with one_thread():
            self.bonus = self._table(self.task.instance.problem.to_actions(best))

    @torch.no_grad()
    def _table(self, actions: list[int]) -> EdgeBonus:
        """Favour each edge of a rollout the more, the less the policy liked it."""
        task = self.task
        rows = task.batch.num_instances
        decoder = StepDecoder(task.batch, task.inputs, task.decoding, 1)
        given = task.starts(greedy=False) is not None
        edges, bonuses = [], []
        for step, node in enumerate(actions):
            if task.patience.is_over():
                raise DeadlineReached
            current = int(decoder.rules.current[0, 0])
            chosen = torch.full((rows, 1), node, device=task.batch.device)
            if step > 0 or not given:
                log_p = decoder.log_probabilities(chosen)[:, 0, node]
                if not log_p.isfinite().all():
                    raise NotFinite(f"the network has no probabilities at step {step}.")
                if current >= 0:
                    edges.append((current, node))
                    bonuses.append((math.log(self.strength) - self.exponent * log_p).clamp(min=0.0))
            decoder.step(chosen)
        order = sorted(range(len(edges)), key=lambda i: edges[i])
        ends = torch.tensor([edges[i] for i in order], device=task.batch.device).view(-1, 2)
        values = torch.stack([bonuses[i] for i in order], dim=1) if order else torch.zeros(rows, 0)
        sources, targets = ends.unbind(dim=1)
        return EdgeBonus(sources.expand(rows, -1), targets.expand(rows, -1), values)
