"""The meta-training loop: labels first, then phi (Algorithm 1 (A) of the paper)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from metasage.errors import InputError
from metasage.io import write_atomically
from metasage.policies.library import find_model
from metasage.policies.model import Model
from metasage.policies.sml import ScaleMetaLearner, Sml
from metasage.policies.sml_files import fingerprint, save_sml
from metasage.rollout import get_engine
from metasage.rollout.interface import Engine
from metasage.training.interrupts import stop_politely
from metasage.training.log import RunLog
from metasage.training.run import SETTINGS, STATE
from metasage.training.sml.labels import Label, all_labels, load_label, make_labels
from metasage.training.sml.objective import sml_loss
from metasage.training.sml.settings import SmlSettings
from metasage.training.sml.validation import zero_shot
from metasage.training.state import load_state, save_state, wrong_state

SML, LABELS = "sml.safetensors", "labels"

_SAVE_EVERY = 10

Listener = Callable[[dict[str, Any]], None]


class MetaRun:
    """A run in its folder: phi, its optimiser, and how far it has come.

    Parameters
    ----------
    folder
        Where the run keeps its files.
    model
        The network, which stays as it is.
    settings
        Settings of the run.
    labels
        Folder of the labels.
    """

    def __init__(self, folder: Path, model: Model, settings: SmlSettings, labels: Path) -> None:
        self.folder, self.model, self.settings, self.labels = folder, model, settings, labels
        torch.manual_seed(settings.seed)
        self.learner = ScaleMetaLearner(settings.reading, model.config.width)
        self.optimizer = torch.optim.Adam(
            self.learner.parameters(), lr=settings.lr, weight_decay=settings.weight_decay
        )
        self.step = 0
        self.seconds = 0.0

    @property
    def is_finished(self) -> bool:
        """Whether all steps were made."""
        return self.step >= self.settings.total_steps

    def sml(self, provenance: dict[str, Any] | None = None) -> Sml:
        """Return the meta-learner as it is now."""
        return Sml.build(self.learner.reading, self.learner.state_dict(), provenance or {})

    def save(self) -> None:
        """Write the state, whole or not at all."""
        state = {
            "step": self.step,
            "seconds": self.seconds,
            "learner": self.learner.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }
        save_state(self.folder / STATE, state)

    def load(self) -> None:
        """Go on from the state that `save` wrote, if there is one."""
        path = self.folder / STATE
        if (state := load_state(path)) is None:
            return
        try:
            self.learner.load_state_dict(state["learner"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.step, self.seconds = int(state["step"]), float(state["seconds"])
        except Exception as error:
            raise wrong_state(path, error) from None


def train_sml(
    folder: str | Path,
    model: str,
    settings: SmlSettings | None = None,
    *,
    resume: bool = False,
    engine: str = "auto",
    labels: Path | None = None,
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
    labels
        Folder of the labels, which several runs may share; the run's own by
        default.
    labels_only
        Stop when there are no more labels to make. Several processes may make
        them in the same folder.
    listener
        Called with each row of the log, and once for each label.
    """
    run = _open(Path(folder), find_model(model), settings, resume, labels)
    roller = get_engine(engine, run.model.config)
    with stop_politely() as stopped:
        began = time.monotonic()
        for _ in make_labels(run.labels, run.model, roller, run.settings, stopped):
            if listener is not None:
                listener({"labels": _count(run), "of": len(all_labels(run.settings))})
        run.seconds += time.monotonic() - began
        if labels_only or _count(run) < len(all_labels(run.settings)):
            return run
        _learn(run, roller, stopped, listener)
    return run


def _learn(
    run: MetaRun, engine: Engine, stopped: Callable[[], bool], listener: Listener | None
) -> None:
    log = RunLog(run.folder, run.step)

    def tell(row: dict[str, Any]) -> None:
        log.write(row)
        if listener is not None:
            listener(row)

    if run.step == 0 and not run.is_finished:
        tell({"step": 0, "without": zero_shot(run.model, None, run.settings)})
    while not run.is_finished and not stopped():
        began = time.monotonic()
        row = meta_step(run, engine)
        run.step += 1
        run.seconds += time.monotonic() - began
        tell({"step": run.step, "of": run.settings.total_steps, "seconds": run.seconds} | row)
        if run.step % _SAVE_EVERY == 0 or run.is_finished or stopped():
            run.save()
    if run.is_finished:
        found = zero_shot(run.model, run.sml(), run.settings)
        tell({"step": run.step, "with": found})
        save_sml(run.sml(_provenance(run, found)), run.folder / SML)
    log.close()


def meta_step(run: MetaRun, engine: Engine) -> dict[str, float]:
    """Make one update of phi: the mean of the losses of all sizes is descended."""
    settings, policy = run.settings, run.model.policy
    for group in run.optimizer.param_groups:
        group["lr"] = settings.lr_at(run.step)
    run.optimizer.zero_grad()
    distances, costs = [], []
    for size in settings.sizes:
        chosen = _chosen(settings, size, run.step)
        instances = [label.instance(run.model.config.problem, settings.seed) for label in chosen]
        moved = torch.stack([load_label(label.path(run.labels)) for label in chosen])
        seed = int(np.random.SeedSequence([settings.seed, size, run.step]).generate_state(1)[0])
        batch = policy.view(instances)
        loss = sml_loss(run.learner, policy, engine, batch, moved, settings, seed)
        (loss.total / len(settings.sizes)).backward()  # type: ignore[no-untyped-call]
        distances.append(loss.distance)
        costs.append(loss.cost)
    if settings.clip_norm:
        torch.nn.utils.clip_grad_norm_(run.learner.parameters(), settings.clip_norm)
    run.optimizer.step()
    return {"distance": float(np.mean(distances)), "cost": float(np.mean(costs))}


def _chosen(settings: SmlSettings, size: int, step: int) -> list[Label]:
    """Return the labels of a size in a step: every epoch in an order of its own."""
    epoch, inside = divmod(step, settings.steps_per_epoch)
    order = np.random.default_rng([settings.seed, size, epoch]).permutation(
        settings.labels_per_size
    )
    first = inside * settings.batch
    return [Label(size, int(index)) for index in order[first : first + settings.batch]]


def _count(run: MetaRun) -> int:
    return sum(label.path(run.labels).exists() for label in all_labels(run.settings))


def _open(
    folder: Path, model: Model, settings: SmlSettings | None, resume: bool, labels: Path | None
) -> MetaRun:
    path = folder / SETTINGS
    mark = {"model": fingerprint(model.policy)}
    if path.exists() and not resume:
        raise InputError("there is a run already: go on with --resume, or choose another.", folder)
    if resume:
        try:
            stored = json.loads(path.read_text())
            found = SmlSettings.from_dict(stored["settings"])
        except FileNotFoundError:
            raise InputError("there is no run to resume.", folder) from None
        except (OSError, ValueError, KeyError) as error:
            raise InputError(f"the settings cannot be read ({error}).", path) from None
        if stored.get("model") != mark["model"]:
            raise InputError("the run belongs to a network with other weights.", folder)
        settings = found
    assert settings is not None
    folder.mkdir(parents=True, exist_ok=True)
    if not resume:
        about = mark | {"settings": settings.to_dict()}
        write_atomically(path, json.dumps(about, indent=1) + "\n")
    run = MetaRun(folder, model, settings, labels or folder / LABELS)
    if resume:
        run.load()
    return run


def _provenance(run: MetaRun, zero_shot_costs: dict[str, float]) -> dict[str, Any]:
    return {
        "model": run.model.name,
        "fingerprint": fingerprint(run.model.policy),
        "problem": run.model.config.problem,
        "sizes": list(run.settings.sizes),
        "settings": run.settings.to_dict(),
        "hours": round(run.seconds / 3600, 3),
        "zero_shot": zero_shot_costs,
    }
