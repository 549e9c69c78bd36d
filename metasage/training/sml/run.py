"""A run of the meta-training: its folder, its state, and how it goes on after a kill."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from metasage.errors import InputError
from metasage.io import write_atomically
from metasage.policies.model import Model
from metasage.policies.sml import ScaleMetaLearner, Sml
from metasage.policies.sml_files import fingerprint
from metasage.training.run import SETTINGS, STATE
from metasage.training.sml.labels import all_labels, locked
from metasage.training.sml.settings import SmlSettings
from metasage.training.state import load_state, save_state, wrong_state

SML, LABELS = "sml.safetensors", "labels"

PRECISION = torch.float16
"""Of the meta-learner that a run writes."""


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
        self.average = {n: t.clone() for n, t in self.learner.state_dict().items()}
        self.optimizer = torch.optim.Adam(self.learner.parameters(), lr=settings.lr)
        self.step = 0
        self.seconds = 0.0
        self.skipped = 0
        self.interrupted = False

    @property
    def is_finished(self) -> bool:
        """Whether the meta-learner was written."""
        return (self.folder / SML).exists()

    def sml(self, provenance: dict[str, Any] | None = None) -> Sml:
        """Return the meta-learner as it is now: averaged, in the precision that is written."""
        kept = {name: tensor.to(PRECISION) for name, tensor in self.average.items()}
        return Sml.build(self.learner.reading, kept, provenance or {})

    def count_labels(self) -> tuple[int, int]:
        """Return how many labels are there, and how many there must be."""
        wanted = all_labels(self.settings)
        return sum(label.path(self.labels).exists() for label in wanted), len(wanted)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from training the same run for as long as the block runs."""
        with locked(self.folder / "training.lock") as mine:
            if not mine:
                raise InputError("another process is training this run.", self.folder)
            yield

    def update(self) -> bool:
        """Apply the gradients of phi; return whether they were finite, else leave phi alone."""
        settings, parameters = self.settings, list(self.learner.parameters())
        norm = torch.nn.utils.clip_grad_norm_(parameters, settings.clip_norm or float("inf"))
        if finite := bool(torch.isfinite(norm)):
            for group in self.optimizer.param_groups:
                group["lr"] = settings.lr_at(self.step)
            self.optimizer.step()
            # A short memory at first: the average must not remember the start.
            decay = min(settings.average, (1 + self.step) / (10 + self.step))
            for name, tensor in self.learner.state_dict().items():
                self.average[name].lerp_(tensor, 1 - decay)
        else:
            self.skipped += 1
        self.step += 1
        return finite

    def save(self) -> None:
        """Write the state, whole or not at all."""
        state = {
            "step": self.step,
            "seconds": self.seconds,
            "skipped": self.skipped,
            "learner": self.learner.state_dict(),
            "average": self.average,
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
            self.average = {n: state["average"][n].clone() for n in self.average}
            self.optimizer.load_state_dict(state["optimizer"])
            self.step, self.skipped = int(state["step"]), int(state["skipped"])
            self.seconds = float(state["seconds"])
        except Exception as error:
            raise wrong_state(path, error) from None


def open_run(
    folder: Path,
    model: Model,
    settings: SmlSettings | None,
    resume: bool,
    labels: str | Path | None,
    join: bool,
) -> MetaRun:
    """Start a run, go on with one, or join those who make labels for it.

    Parameters
    ----------
    folder, model, settings, resume, labels
        As in `train_sml`.
    join
        Whether a run with equal settings may be there already.
    """
    path, mark = folder / SETTINGS, fingerprint(model.policy)
    begun = path.exists()
    if resume and not begun:
        raise InputError("there is no run to resume.", folder)
    if begun:
        try:
            stored = json.loads(path.read_text())
            found = SmlSettings.from_dict(stored["settings"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"the settings cannot be read ({error}).", path) from None
        if stored.get("model") != mark:
            raise InputError("the run belongs to a network with other weights.", folder)
        if not resume and not (join and found == settings):
            raise InputError(
                "there is a run already: go on with --resume, or choose another.", folder
            )
        settings = found
        labels = labels or stored.get("labels")
    assert settings is not None
    if not begun:
        folder.mkdir(parents=True, exist_ok=True)
        shared = None if labels is None else str(Path(labels).resolve())
        about = {"model": mark, "labels": shared, "settings": settings.to_dict()}
        write_atomically(path, json.dumps(about, indent=1) + "\n")
    run = MetaRun(folder, model, settings, Path(labels or folder / LABELS))
    run.load()
    return run
