"""EAS-Tab (Hottung et al. 2021): a table of preferred edges, without any gradient."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import torch

from metasage.adaptation.method import Method, Strategy
from metasage.adaptation.published import TABLES
from metasage.adaptation.resources import one_thread
from metasage.adaptation.result import Incumbent
from metasage.adaptation.task import Task
from metasage.errors import InputError
from metasage.problems import Solution
from metasage.rollout.interface import DeadlineReached, EdgeBonus, Rollouts
from metasage.rollout.torch_engine import StepDecoder


@dataclass(frozen=True, kw_only=True)
class EasTab(Method):
    """Sampling from ``p ** exponent * table``, where the table favours the incumbent's edges.

    Parameters
    ----------
    exponent
        Exponent of the policy's probabilities; by default 0.505 (TSP) or 0.539.
    strength
        How much the incumbent's edges are favoured; by default 8.57 (TSP) or
        9.55.
    """

    name = "eas-tab"

    exponent: float | None = None
    strength: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for value in (self.exponent, self.strength):
            if value is not None and not value > 0:
                raise InputError(f"exponent and strength must be positive, and one is {value}.")

    def defaults(self, problem: str) -> dict[str, Any]:  # noqa: D102
        exponent, strength = TABLES[problem]
        return {"exponent": exponent, "strength": strength}

    def start(self, task: Task) -> Strategy:  # noqa: D102
        own = self.resolved(task.instance.problem.name)
        assert own.exponent is not None
        assert own.strength is not None
        return _TableAdaptation(task, own.exponent, own.strength)


class _TableAdaptation(Strategy):
    def __init__(self, task: Task, exponent: float, strength: float) -> None:
        self.task, self.exponent, self.strength = task, exponent, strength
        self.bonus: EdgeBonus | None = None
        self.known: Solution | None = None

    def rollout(self, iteration: int, progress: float) -> Rollouts:
        # p ** exponent is the policy at a temperature of one over the exponent.
        temperature = 1.0 / self.exponent
        decoding = replace(self.task.decoding, temperature=temperature, bonus=self.bonus)
        return self.task.rollout(decoding, iteration)

    def learn(self, rollouts: Rollouts, incumbent: Incumbent) -> None:
        """Rebuild the table whenever there is a better solution."""
        if incumbent.solution is None or incumbent.solution is self.known:
            return
        self.known = incumbent.solution
        with one_thread():
            self.bonus = self._table(self.task.instance.problem.to_actions(incumbent.solution))

    @torch.no_grad()
    def _table(self, actions: list[int]) -> EdgeBonus:
        """Favour each edge of a rollout the more, the less the policy liked it."""
        task = self.task
        rows = task.batch.num_instances
        decoder = StepDecoder(task.batch, task.inputs, task.decoding, 1)
        given = task.starts(greedy=False) is not None
        edges, bonuses = [], []
        for step, node in enumerate(actions):
            if task.deadline is not None and time.monotonic() > task.deadline:
                raise DeadlineReached
            current = int(decoder.rules.current[0, 0])
            chosen = torch.full((rows, 1), node, device=task.batch.device)
            if step > 0 or not given:
                log_p = decoder.log_probabilities(chosen)[:, 0, node]
                if current >= 0:
                    edges.append((current, node))
                    bonuses.append((math.log(self.strength) - self.exponent * log_p).clamp(min=0.0))
            decoder.step(chosen)
        order = sorted(range(len(edges)), key=lambda i: edges[i])
        ends = torch.tensor([edges[i] for i in order], device=task.batch.device).view(-1, 2)
        values = torch.stack([bonuses[i] for i in order], dim=1) if order else torch.zeros(rows, 0)
        sources, targets = ends.unbind(dim=1)
        return EdgeBonus(sources.expand(rows, -1), targets.expand(rows, -1), values)
