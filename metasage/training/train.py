"""Train a policy: everything around the steps."""

from __future__ import annotations

import math
import time
from contextlib import ExitStack, closing
from pathlib import Path

import torch

from metasage.adaptation.resources import require_device
from metasage.errors import InputError
from metasage.rollout import get_engine
from metasage.runtime.interrupts import interruptible
from metasage.runtime.resources import available_cores
from metasage.training.bank import Bank
from metasage.training.clock import Clock
from metasage.training.log import RunLog
from metasage.training.loop import Listener, Loop
from metasage.training.processes import Processes
from metasage.training.run import LABELS, Run, open_run
from metasage.training.settings import TrainingSettings
from metasage.training.state import make_folder, sole_trainer

# Threads that make labels.
_LABEL_THREADS = 2
# Seconds that the interpreter has to leave, at most.
_LONGEST_LEAVING = 2.0


def train(
    folder: str | Path,
    settings: TrainingSettings | None = None,
    *,
    resume: bool = False,
    engine: str = "auto",
    device: str = "cpu",
    labels: str | Path | None = None,
    time_limit: float | None = None,
    started: float | None = None,
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
    labels
        Folder of solved instances, which runs may share; by default one inside
        the run's folder.
    time_limit
        Be done after so many seconds, with everything written.
    started
        Time of `time.monotonic` from which they count; None for now.
    tensorboard
        Write events for TensorBoard, too.
    listener
        Called with each row of the log.
    """
    now = time.monotonic()
    started = now if started is None else started
    # Whoever took long to start takes a while to end, too.
    leaving = min((now - started) / 3, _LONGEST_LEAVING)
    if time_limit is not None and not time_limit >= 0:
        raise InputError(f"the time limit is {time_limit} and must not be negative.")
    folder = Path(folder)
    require_device(device)
    torch_device = torch.device(device)
    processes = Processes.join(torch_device)
    with ExitStack() as until_the_end:
        if processes.is_first:
            make_folder(folder)
            until_the_end.enter_context(sole_trainer(folder))
        run = open_run(folder, settings, resume, torch_device)
        _require_fitting(run, processes)
        processes.wait()  # until all have looked: the first is about to write there
        log = None
        if processes.is_first:
            log = until_the_end.enter_context(
                closing(RunLog(folder, run.step, run.settings.save_every, tensorboard))
            )
            run.save_settings()
        shared = folder / LABELS if labels is None else Path(labels)
        bank = Bank(shared, min(_LABEL_THREADS, available_cores()))
        until_the_end.callback(bank.close)
        end = math.inf if time_limit is None else started + time_limit - leaving
        rollout_engine = get_engine(engine, run.policy.config, torch_device.type)
        loop = Loop(run, rollout_engine, processes, bank, Clock(run, bank, end), log, listener)
        with interruptible() as stopped:
            loop.run_steps(stopped)
            run.interrupted = stopped() and not run.is_finished
            loop.finish()
    processes.leave()
    return run


def _require_fitting(run: Run, processes: Processes) -> None:
    """Complain about policies that cannot be trained as the settings say."""
    config = run.policy.config
    if processes.count > 1 and config.norm == "batch":
        raise InputError(
            "batch norm over several processes is not supported: its statistics would differ."
        )
    if config.fractional_load and any(stage.imitation for stage in run.settings.stages):
        raise InputError("loads of a policy that imitates must be exact, not fractional_load.")
