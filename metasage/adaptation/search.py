"""The loop that all methods share (Algorithm 1 (B) of the paper)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from metasage.adaptation.callbacks import Callbacks
from metasage.adaptation.interrupts import Interrupted, interruptible
from metasage.adaptation.method import Strategy
from metasage.adaptation.result import Incumbent
from metasage.adaptation.stop import StoppingCriterion
from metasage.problems import Solution, check
from metasage.rollout.interface import DeadlineReached, Rollouts

Polish = Callable[[Sequence[Solution]], Sequence[Solution]]

# Rollouts of an iteration that local search makes better, if it does.
_POLISHED = 4


class Search:
    """One search, and what came out of it.

    Parameters
    ----------
    incumbent
        Best solution so far; the search never makes it worse.
    stop
        When to end.
    horizon
        Iterations over which schedules run; None lets them follow the clock.
    deadline
        Time of `time.monotonic` at which they end then.
    callbacks
        Who wants to hear of it.
    started
        Time of `time.monotonic` from which seconds count; now by default.
    polish
        Local search that makes the best rollouts of each iteration better.
    """

    def __init__(
        self,
        incumbent: Incumbent,
        stop: StoppingCriterion,
        horizon: int | None,
        deadline: float | None = None,
        callbacks: Callbacks | None = None,
        started: float | None = None,
        polish: Polish | None = None,
    ) -> None:
        self.incumbent, self.stop, self.polish = incumbent, stop, polish
        self.callbacks = Callbacks() if callbacks is None else callbacks
        self.horizon, self.deadline = horizon, deadline
        self.started = time.monotonic() if started is None else started
        self.began = self.started
        self.iteration = 0
        self.has_rollouts = False
        self.curve = incumbent.curve(self.seconds())
        self.interrupted = False

    def run(self, strategy: Strategy) -> None:
        """Let a strategy sample and learn until it is time to stop."""
        self.began = time.monotonic()
        try:
            with interruptible():
                self._iterate(strategy)
        except Interrupted:
            self.interrupted = True

    def _iterate(self, strategy: Strategy) -> None:
        try:
            while not self.stop(self.iteration, self.incumbent.objective):
                rollouts = strategy.rollout(self.iteration, self.progress())
                self.collect(rollouts)
                strategy.learn(rollouts, self.incumbent)
                self.iteration += 1
                self.callbacks.on_iteration(
                    self.iteration, self.incumbent.objective, self.seconds()
                )
        except DeadlineReached as late:
            if late.found is not None:
                self.collect(late.found)

    def progress(self) -> float:
        """How much of the planned search is over, from 0 to 1."""
        if self.horizon is not None:
            return min(1.0, self.iteration / max(1, self.horizon))
        if self.deadline is None or self.deadline <= self.began:
            return 1.0
        return min(1.0, (time.monotonic() - self.began) / (self.deadline - self.began))

    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def collect(self, rollouts: Rollouts) -> None:
        """Offer the best rollout to the incumbent, by the original objective."""
        self.has_rollouts = True
        instance = self.incumbent.instance
        problem = instance.problem
        actions = rollouts.actions.flatten(0, 1).cpu().numpy()
        objectives = problem.objectives(instance, actions)
        order = (objectives if problem.sense == "min" else -objectives).argsort(kind="stable")
        steps = rollouts.steps.flatten()

        def solution(row: int) -> Solution:
            return problem.to_solution(actions[row, : int(steps[row])])

        self.offer(solution(order[0]), float(objectives[order[0]]))
        if self.polish is not None:
            few = dict.fromkeys(solution(row) for row in order[:_POLISHED])
            for polished in self.polish(list(few)):
                self.offer(polished)

    def offer(self, solution: Solution, objective: float | None = None) -> None:
        """Let a solution become the incumbent if it is better."""
        if objective is None:
            objective = check(self.incumbent.instance, solution).objective
        assert objective is not None
        if self.incumbent.offer(solution, objective):
            self.curve.append((self.seconds(), self.iteration, objective))
            self.callbacks.on_best(solution, objective, self.iteration)
