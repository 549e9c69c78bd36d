"""The loop that all methods share (Algorithm 1 (B) of the paper)."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from metasage.adaptation.callbacks import Callbacks
from metasage.adaptation.method import Strategy
from metasage.adaptation.result import Incumbent
from metasage.adaptation.stop import MaxRuntime, StoppingCriterion
from metasage.rollout.interface import DeadlineReached, Rollouts


class Interrupted(Exception):  # noqa: N818 - not an error, but a signal
    """Raised where the search stands when the user wants it to end."""


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
    limit
        Time limit whose clock they follow then.
    callbacks
        Who wants to hear of it.
    started
        Time of `time.monotonic` from which seconds count; now by default.
    """

    def __init__(
        self,
        incumbent: Incumbent,
        stop: StoppingCriterion,
        horizon: int | None,
        limit: MaxRuntime | None = None,
        callbacks: Callbacks | None = None,
        started: float | None = None,
    ) -> None:
        self.incumbent, self.stop = incumbent, stop
        self.callbacks = Callbacks() if callbacks is None else callbacks
        self.horizon, self.limit = horizon, limit
        self.started = time.monotonic() if started is None else started
        self.iteration = 0
        self.curve: list[tuple[float, int, float]] = []
        self.interrupted = False

    def run(self, strategy: Strategy) -> None:
        """Let a strategy sample and learn until it is time to stop."""
        try:
            with _interruptible():
                while not self.stop(self.iteration, self.incumbent.objective):
                    rollouts = strategy.rollout(self.iteration, self.progress())
                    self.collect(rollouts)
                    strategy.learn(rollouts, self.incumbent)
                    self.iteration += 1
                    self.callbacks.on_iteration(
                        self.iteration, self.incumbent.objective, self.seconds()
                    )
        except DeadlineReached:
            pass
        except Interrupted:
            self.interrupted = True

    def progress(self) -> float:
        """How much of the planned search is over, from 0 to 1."""
        if self.horizon is not None:
            return min(1.0, self.iteration / max(1, self.horizon))
        if self.limit is None or self.limit.seconds == 0:
            return 1.0
        return min(1.0, (time.monotonic() - self.limit.started) / self.limit.seconds)

    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def collect(self, rollouts: Rollouts) -> None:
        """Offer the best rollout to the incumbent, by the original objective."""
        instance = self.incumbent.instance
        problem = instance.problem
        actions = rollouts.actions.flatten(0, 1).cpu().numpy()
        objectives = problem.objectives(instance, actions)
        best = int(objectives.argmin() if problem.sense == "min" else objectives.argmax())
        steps = int(rollouts.steps.flatten()[best])
        solution = problem.to_solution(actions[best, :steps])
        if self.incumbent.offer(solution, float(objectives[best])):
            self.curve.append((self.seconds(), self.iteration, float(objectives[best])))
            self.callbacks.on_best(solution, float(objectives[best]), self.iteration)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the search, and nothing more."""

    def interrupt(signum: int, frame: FrameType | None) -> None:
        raise Interrupted

    previous = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            previous[number] = signal.signal(number, interrupt)
    except ValueError:  # not the main thread, which alone may handle signals
        pass
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
