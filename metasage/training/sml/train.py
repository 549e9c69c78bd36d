"""The meta-training loop: labels first, then phi (Algorithm 1 (A) of the paper)."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from metasage.errors import NotFinite
from metasage.policies.library import find_model
from metasage.policies.sml import Sml
from metasage.policies.sml_files import fingerprint, save_sml
from metasage.problems.sets import generate
from metasage.rollout import get_engine
from metasage.rollout.interface import Engine
from metasage.runtime.interrupts import Interrupted, interruptible
from metasage.solving.names import EngineName
from metasage.training.log import RunLog, read_log
from metasage.training.sml.labels import (
    Label,
    all_labels,
    label_seconds,
    load_label,
    make_labels,
    origin,
)
from metasage.training.sml.objective import distil_loss, zero_shot_loss
from metasage.training.sml.run import PRECISION, SML, MetaRun, open_run
from metasage.training.sml.settings import SmlSettings
from metasage.training.sml.validation import zero_shot
from metasage.training.state import sole_trainer

_SAVE_EVERY = 10

Listener = Callable[[dict[str, Any]], None]


def train_sml(
    folder: str | Path,
    model: str,
    settings: SmlSettings | None = None,
    *,
    resume: bool = False,
    engine: EngineName = "auto",
    threads: int = 0,
    labels: str | Path | None = None,
    labels_only: bool = False,
    listener: Listener | None = None,
) -> MetaRun:
    """Make labels and train a scale meta-learner, or go on doing so.

    Parameters
    ----------
    folder
        Where the run keeps settings, labels, state, log and meta-learner.
    model
        The network, by name or file.
    settings
        Settings of a new run; None takes those of the run that is resumed.
    resume
        Go on with the run in the folder, exactly as if it had not stopped.
    engine
        Engine of the rollouts.
    threads
        Threads of the engine; 0 for all cores.
    labels
        Folder of the labels, which several runs may share; the run's own by
        default. A resumed run remembers it.
    labels_only
        Stop when there are no more labels to make. Several processes may make
        them in the same folder.
    listener
        Called with each row of the log, and once for each label.
    """
    run = open_run(Path(folder), find_model(model), settings, resume, labels, labels_only)
    if run.is_finished:
        return run
    rollout_engine = get_engine(engine, run.model.config, threads=threads)
    with interruptible() as stopped:
        try:
            spent: list[float] = []
            for label in make_labels(run.labels, run.model, rollout_engine, run.settings, stopped):
                spent.append(label_seconds(label.path(run.labels)))
                if listener is not None:
                    made, wanted = run.count_labels()
                    left = (wanted - made) * sum(spent) / len(spent)
                    listener({"labels": made, "of": wanted, "seconds_left": left})
            made, wanted = run.count_labels()
            if made == wanted and not labels_only:
                with sole_trainer(run.folder):
                    run.load()  # another process may have trained it meanwhile
                    _learn(run, rollout_engine, stopped, listener, engine, threads)
        except Interrupted:  # in the middle of a label or of a validation
            run.interrupted = True
        run.interrupted |= stopped()
    return run


def _learn(
    run: MetaRun,
    engine: Engine,
    stopped: Callable[[], bool],
    listener: Listener | None,
    engine_name: EngineName,
    threads: int,
) -> None:
    log = RunLog(run.folder, run.step, _SAVE_EVERY)

    def tell(row: dict[str, Any]) -> None:
        log.write(row)
        if listener is not None:
            listener(row)

    def validate(kind: str, sml: Sml | None) -> dict[str, float]:
        found = zero_shot(run.model, sml, run.settings, engine_name, threads)
        tell({"step": run.step, kind: found})
        return found

    with closing(log):
        if not any("without" in row for row in read_log(run.folder)):
            validate("without", None)
        while run.step < run.settings.steps and not stopped():
            began = time.monotonic()
            row = meta_step(run, engine)
            run.seconds += time.monotonic() - began
            tell({"step": run.step, "of": run.settings.steps, "seconds": run.seconds} | row)
            if run.step % _SAVE_EVERY == 0 or stopped():
                run.save()
        if not stopped():
            run.save()
            found = validate("with", run.sml())
            before = next(row["without"] for row in read_log(run.folder) if "without" in row)
            about = _provenance(run) | {"zero_shot_without": before, "zero_shot": found}
            save_sml(run.sml(about), run.folder / SML, PRECISION)


def meta_step(run: MetaRun, engine: Engine) -> dict[str, float]:
    """Make one update of phi: the mean of the losses of all sizes is descended.

    Returns
    -------
    dict
        What the objectives were; ``skipped`` instead, if they were not finite.
    """
    run.optimizer.zero_grad()
    found: dict[str, list[float]] = {"distance": [], "cost": []}
    try:
        for size in run.settings.sizes:
            loss, parts = size_loss(run, engine, size)
            (loss / len(run.settings.sizes)).backward()  # type: ignore[no-untyped-call]
            for name, value in parts.items():
                found[name].append(value)
    except NotFinite:
        run.skip()
        return {"skipped": run.skipped}
    if not run.update():
        return {"skipped": run.skipped}
    return {name: float(np.mean(values)) for name, values in found.items() if values}


def size_loss(run: MetaRun, engine: Engine, size: int) -> tuple[Tensor, dict[str, float]]:
    """Evaluate J_distil + beta J_zero on the instances of one size in the present step."""
    settings, policy, problem = run.settings, run.model.policy, run.model.config.problem
    seed = int(np.random.SeedSequence([settings.seed, size, run.step]).generate_state(1)[0])
    terms, parts = [], {}
    if settings.labelled:
        labels = _chosen(settings, size, run.step)
        batch = policy.view([label.instance(problem, settings.seed) for label in labels])
    if settings.distil:
        expected = origin(run.model, settings)
        moved = torch.stack([load_label(label.path(run.labels), expected) for label in labels])
        distance = distil_loss(run.learner, policy, batch, moved)
        terms.append(settings.distil * distance)
        parts["distance"] = float(distance.detach())
    if settings.zero or settings.biased or settings.guided:
        if settings.fresh:
            batch = policy.view(list(generate(problem, size, settings.batch, seed)))
        loss, parts["cost"] = zero_shot_loss(run.learner, policy, engine, batch, settings, seed)
        terms.append(loss)
    return torch.stack(terms).sum(), parts


def _chosen(settings: SmlSettings, size: int, step: int) -> list[Label]:
    """Return the labels of a size in a step: every round in an order of its own."""
    turn, inside = divmod(step, settings.steps_per_round)
    order = np.random.default_rng([settings.seed, size, turn]).permutation(settings.labels_per_size)
    first = inside * settings.batch
    return [Label(size, int(index)) for index in order[first : first + settings.batch]]


def _label_seconds(run: MetaRun) -> float:
    return sum(label_seconds(label.path(run.labels)) for label in all_labels(run.settings))


def _provenance(run: MetaRun) -> dict[str, Any]:
    return {
        "model": run.model.name,
        "fingerprint": fingerprint(run.model.policy),
        "problem": run.model.config.problem,
        "sizes": list(run.settings.sizes),
        "settings": run.settings.to_dict(),
        "label_hours": round(_label_seconds(run) / 3600, 3),
        "hours": round(run.seconds / 3600, 3),
    }
