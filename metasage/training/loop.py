"""The steps of a run, and what is written meanwhile."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import torch

from metasage.errors import MetasageError
from metasage.rollout.interface import Engine
from metasage.training.bank import Bank
from metasage.training.clock import Clock
from metasage.training.data import StepPlan, plan_steps
from metasage.training.log import RunLog, draw_curve, read_log
from metasage.training.processes import Processes
from metasage.training.run import Run
from metasage.training.step import StepReport, compute_gradients
from metasage.training.validation import Validator

# So many bad steps in a row mean that the run is broken, not unlucky.
_MOST_BAD_STEPS = 50
# Steps whose labels are made ahead.
_STEPS_AHEAD = 32
# Shares of a time limit that the first and the last validation may take.
_FIRST_VALIDATION, _LAST_VALIDATION = 0.1, 0.25

Listener = Callable[[dict[str, Any]], None]


class Loop:
    """Makes the steps of a run, validates, logs and saves.

    Parameters
    ----------
    run
        The run.
    engine
        How rollouts are made.
    processes
        Who shares its steps; the first one validates and writes.
    bank
        Where solved instances come from.
    clock
        How much time there is.
    log
        The log, where this process writes it.
    listener
        Called with each row of the log.
    """

    def __init__(
        self,
        run: Run,
        engine: Engine,
        processes: Processes,
        bank: Bank,
        clock: Clock,
        log: RunLog | None,
        listener: Listener | None,
    ) -> None:
        self.run, self.processes, self.bank, self.clock = run, processes, bank, clock
        self.engine = engine
        self.validator = Validator(run.settings, engine, run.validation_seconds)
        self.log, self.listener = log, listener
        self.validated: dict[str, Any] | None = None
        self.complained = False
        self.limit = clock.end - time.monotonic()
        self.plans = plan_steps(run.settings, run.step)
        self.ahead: deque[StepPlan] = deque()

    def run_steps(self, stopped: Callable[[], bool]) -> None:
        """Make steps until all are made, the time is over or the user wants no more."""
        run, clock = self.run, self.clock
        first, bad_steps = run.step, 0
        self._look_ahead()
        if run.step == 0 and not read_log(run.folder):
            self._validate(_FIRST_VALIDATION * clock.left)
        while not run.is_finished:
            self._look_ahead()
            plan = self.ahead.popleft()
            reserve = self._reserve()

            def late(plan: StepPlan = plan, reserve: float = reserve) -> bool:
                return not clock.allows(plan, reserve)

            clock.begin()
            ready = self.bank.wait(plan, lambda: stopped() or late())
            stop = not ready or stopped() or (run.step > first and late())
            if self.processes.add(torch.tensor(float(stop))).item() > 0:
                return
            run.policy.train()
            report = compute_gradients(
                run.policy, self.engine, run.settings, plan, self.processes, self.bank
            )
            if report.is_finite:
                run.update()
                bad_steps = 0
            else:
                run.skipped += 1
                bad_steps += 1
            run.step += 1
            run.instances += plan.count
            clock.tick(plan)
            self._after_step(plan, report)
            if run.step == first + 1:
                self._write()
                self._measure_closing()
            if bad_steps >= _MOST_BAD_STEPS:
                raise MetasageError(
                    f"{bad_steps} steps in a row were not finite: the run is broken."
                )

    def finish(self) -> None:
        """Validate once more if there is time, and write the last files."""
        if not self.processes.is_first:
            return
        self.run.save()  # first of all: an impatient user loses no step
        if self._known() is None:
            row = self._validation_row(self.clock.left)
            # A resumed run would not repeat it, so it is no part of the log.
            if row is not None and self.listener is not None:
                self.listener(row)
        self._write()

    def _look_ahead(self) -> None:
        """Plan the next steps, and have their labels made."""
        while len(self.ahead) < _STEPS_AHEAD and (plan := next(self.plans, None)) is not None:
            self.ahead.append(plan)
        self.bank.ahead(self.ahead)

    def _after_step(self, plan: StepPlan, report: StepReport) -> None:
        run, settings = self.run, self.run.settings
        due = run.step == 1 or run.step % settings.log_every == 0 or run.is_finished
        if due or not report.is_finite:
            self._tell(self._progress_row(plan, report))
        if self.bank.complaint is not None and not self.complained:
            self._tell({"step": run.step, "warning": self.bank.complaint})
            self.complained = True
        if run.step % settings.validate_every == 0 or run.is_finished:
            self._validate(self.clock.left)
        if self.processes.is_first and run.step % settings.save_every == 0:
            run.save()

    def _reserve(self) -> float:
        """Return the time to keep for the last validation: none if it takes too much."""
        wanted = 1.1 * self.validator.seconds
        return wanted if wanted <= _LAST_VALIDATION * self.limit else 0.0

    def _validate(self, seconds: float) -> None:
        if self.processes.is_first and (row := self._validation_row(seconds)) is not None:
            self._tell(row)

    def _validation_row(self, seconds: float) -> dict[str, Any] | None:
        run = self.run
        if self.validator.seconds > seconds:
            return None
        found = self.validator(run.averaged(), seconds)
        run.validation_seconds = self.validator.seconds
        if found is not None:
            place = {"step": run.step, "instances": run.instances, "seconds": run.seconds}
            self.validated = place | found
        return self._known()

    def _known(self) -> dict[str, Any] | None:
        """Return the validation of the policy as it is now, if there is one."""
        known = self.validated
        return known if known is not None and known["step"] == self.run.step else None

    def _progress_row(self, plan: StepPlan, report: StepReport) -> dict[str, Any]:
        run = self.run
        _, inside = run.settings.at(plan.step)
        row = {
            "step": run.step,
            "instances": run.instances,
            "size": plan.kind.size,
            "lr": plan.stage.lr_at(inside),
        }
        row |= self.clock.row(plan)
        return row | (report.values if report.is_finite else {"skipped": run.skipped})

    def _tell(self, row: dict[str, Any]) -> None:
        if self.log is not None:
            self.log.write(row)
            if self.listener is not None:
                self.listener(row)

    def _write(self) -> None:
        if self.processes.is_first:
            known = self._known()
            self.run.save()
            self.run.save_model(self.validator.unknown() if known is None else known)
            draw_curve(self.run.folder, known)

    def _measure_closing(self) -> None:
        """Note what the last files will take, where that matters."""
        if self.limit < math.inf:
            began = time.monotonic()
            self._write()  # once more: what it has to import is there by now
            self.clock.closing = time.monotonic() - began
