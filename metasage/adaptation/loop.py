"""The loop that all methods share (Algorithm 1 (B) of the paper)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from metasage.adaptation.method import Strategy
from metasage.problems import Instance, Solution
from metasage.rollout.interface import DeadlineReached, Rollouts

Polish = Callable[[Sequence[Solution]], Sequence[Solution]]

# Rollouts of an iteration that local search makes better, if it does.
_POLISHED = 4


class Record(Protocol):
    """Who keeps the best solution; see `metasage.solving.record`."""

    instance: Instance
    best: Solution | None
    iteration: int

    @property
    def objective(self) -> float | None:
        """Best objective so far."""

    def offer(self, solution: Solution) -> object:
        """Check a solution, and keep it if it is better."""

    def is_over(self) -> bool:
        """Whether to make no further iteration."""

    def end_iteration(self) -> None:
        """Count an iteration."""


class Loop:
    """Lets a strategy sample and learn, again and again.

    Parameters
    ----------
    record
        Where solutions go, and who says when to end.
    horizon
        Iterations over which schedules run; None lets them follow the clock.
    deadline
        Time of `time.monotonic` at which they end then.
    polish
        Local search that makes the best rollouts of each iteration better.
    """

    def __init__(
        self,
        record: Record,
        horizon: int | None,
        deadline: float | None = None,
        polish: Polish | None = None,
    ) -> None:
        self.record, self.horizon, self.deadline, self.polish = record, horizon, deadline, polish
        self.began = time.monotonic()

    def run(self, strategy: Strategy) -> None:
        """Iterate until the horizon, the deadline or a criterion is reached."""
        record = self.record
        self.began = time.monotonic()
        try:
            while not self._is_done() and not record.is_over():
                rollouts = strategy.rollout(record.iteration, self.progress())
                self.collect(rollouts)
                strategy.learn(rollouts, record.best)
                record.end_iteration()
        except DeadlineReached as late:
            if late.found is not None:
                self.collect(late.found)

    def _is_done(self) -> bool:
        return self.horizon is not None and self.record.iteration >= self.horizon

    def progress(self) -> float:
        """How much of the planned search is over, from 0 to 1."""
        if self.horizon is not None:
            return min(1.0, self.record.iteration / max(1, self.horizon))
        if self.deadline is None or self.deadline <= self.began:
            return 1.0
        return min(1.0, (time.monotonic() - self.began) / (self.deadline - self.began))

    def collect(self, rollouts: Rollouts) -> None:
        """Offer the best rollout, by the original objective, if it is better than before."""
        instance = self.record.instance
        problem = instance.problem
        actions = rollouts.actions.flatten(0, 1).cpu().numpy()
        objectives = problem.objectives(instance, actions)
        order = (problem.sign * objectives).argsort(kind="stable")
        steps = rollouts.steps.flatten()

        def solution(row: int) -> Solution:
            return problem.to_solution(actions[row, : int(steps[row])])

        known, found = self.record.objective, float(objectives[order[0]])
        if known is None or problem.sign * found < problem.sign * known:
            self.record.offer(solution(order[0]))
        if self.polish is not None:
            few = dict.fromkeys(solution(row) for row in order[:_POLISHED])
            for polished in self.polish(list(few)):
                self.record.offer(polished)
