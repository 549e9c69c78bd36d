"""The training loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from metasage.errors import InputError, MetasageError
from metasage.rollout import get_engine
from metasage.training.interrupts import stop_politely
from metasage.training.log import RunLog, draw_curve
from metasage.training.processes import Processes
from metasage.training.run import Run, open_run
from metasage.training.settings import TrainingSettings
from metasage.training.step import StepReport, compute_gradients
from metasage.training.validation import gap, validate

# So many bad steps in a row mean that the run is broken, not unlucky.
_MOST_BAD_STEPS = 50

Listener = Callable[[dict[str, Any]], None]


def train(
    folder: str | Path,
    settings: TrainingSettings | None = None,
    *,
    resume: bool = False,
    engine: str = "auto",
    device: str = "cpu",
    time_limit: float | None = None,
    tensorboard: bool = False,
    listener: Listener | None = None,
) -> Run:
    """Train a policy, or go on training it.

    Parameters
    ----------
    folder
        Where the run keeps settings, state, log, curve and model.
    settings
        Settings of a new run; None takes those of the run that is resumed.
    resume
        Go on with the run in the folder, exactly as if it had not stopped.
    engine, device
        How and where to compute.
    time_limit
        Stop after so many seconds, with the state saved.
    tensorboard
        Write events for TensorBoard, too.
    listener
        Called with each row of the log.
    """
    if time_limit is not None and not time_limit >= 0:
        raise InputError(f"the time limit is {time_limit} and must not be negative.")
    folder = Path(folder)
    torch_device = torch.device(device)
    processes = Processes.join(torch_device)
    if processes.is_first:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"the folder cannot be made ({error.strerror}).", folder) from None
    run = open_run(folder, settings, resume, torch_device)
    if processes.count > 1 and run.policy.config.norm == "batch":
        raise InputError(
            "batch norm over several processes is not supported: its statistics would differ."
        )
    processes.wait()  # until all have looked: the first is about to write there
    log = RunLog(folder, run.step, tensorboard) if processes.is_first else None
    if processes.is_first:
        run.save_settings()
    roller = get_engine(engine, run.policy.config)
    deadline = None if time_limit is None else time.monotonic() + time_limit
    bad_steps = 0
    clock = _Clock(run)
    with stop_politely() as stopped:
        while not run.is_finished:
            run.policy.train()
            report = compute_gradients(run.policy, roller, run.settings, run.step, processes)
            if report.is_finite:
                run.update()
                bad_steps = 0
            else:
                run.skipped += 1
                bad_steps += 1
            run.step += 1
            clock.tick()
            done = run.is_finished
            late = deadline is not None and time.monotonic() >= deadline
            stop = processes.add(torch.tensor(float(late or stopped()))).item() > 0
            rows = []
            if run.step % run.settings.log_every == 0 or not report.is_finite or done:
                rows.append(_progress_row(run, report, clock))
            if run.step % run.settings.validate_every == 0 or done:
                rows.append(_validation_row(run, roller))
            for row in rows if log is not None else []:
                assert log is not None
                log.write(row)
                if listener is not None:
                    listener(row)
            if processes.is_first and (run.step % run.settings.save_every == 0 or done or stop):
                run.save()
            if bad_steps >= _MOST_BAD_STEPS:
                raise MetasageError(
                    f"{bad_steps} steps in a row were not finite: the run is broken."
                )
            if stop:
                run.interrupted = stopped()
                break
    if log is not None:
        log.close()
        run.save_model(_validation_row(run, roller))
        draw_curve(folder)
    processes.leave()
    return run


class _Clock:
    """Counts the seconds of a run over all its interruptions, and its speed."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.last = time.monotonic()
        self.speed = 0.0

    def tick(self) -> None:
        now = time.monotonic()
        passed, self.last = now - self.last, now
        self.run.seconds += passed
        stage, _ = self.run.settings.at(self.run.step - 1)
        speed = stage.batch / max(passed, 1e-9)
        self.speed = speed if not self.speed else 0.95 * self.speed + 0.05 * speed


def _progress_row(run: Run, report: StepReport, clock: _Clock) -> dict[str, Any]:
    stage, inside = run.settings.at(run.step - 1)
    row: dict[str, Any] = {
        "step": run.step,
        "instances": run.instances,
        "size": stage.size,
        "lr": stage.lr_at(inside),
        "instances_per_second": clock.speed,
        "seconds": run.seconds,
        "seconds_left": run.settings.work_after(run.step) / (stage.work * clock.speed),
    }
    if report.is_finite:
        return row | {"cost": report.cost, "best": report.best, "norm": report.norm}
    return row | {"skipped": run.skipped}


def _validation_row(run: Run, engine: Any) -> dict[str, Any]:
    settings = run.settings
    size, count = settings.validation_size, settings.validation_count
    objective = validate(run.averaged(), engine, size, count)
    return {
        "step": run.step,
        "instances": run.instances,
        "seconds": run.seconds,
        "validation": objective,
        "validation_size": size,
        "gap": gap(settings.problem, size, count, objective),
    }
