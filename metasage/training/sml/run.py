"""A run of the meta-training: its folder, its state, and how it goes on after a kill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from metasage.errors import InputError
from metasage.io import write_atomically
from metasage.policies.model import Model
from metasage.policies.sml import ScaleMetaLearner, Sml
from metasage.policies.sml_files import fingerprint
from metasage.training.run import SETTINGS, STATE
from metasage.training.sml.labels import all_labels
from metasage.training.sml.settings import SmlSettings
from metasage.training.state import (
    load_optimiser,
    load_progress,
    load_state,
    load_tensors,
    make_folder,
    read_settings,
    save_state,
    wrong_state,
)

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

    def update(self) -> bool:
        """Apply the gradients of phi; return whether they were finite, else leave phi alone."""
        settings, parameters = self.settings, list(self.learner.parameters())
        norm = torch.nn.utils.clip_grad_norm_(parameters, settings.clip_norm or float("inf"))
        if not torch.isfinite(norm):
            self.skip()
            return False
        for group in self.optimizer.param_groups:
            group["lr"] = settings.lr_at(self.step)
        self.optimizer.step()
        # A short memory at first: the average must not remember the start.
        decay = min(settings.average, (1 + self.step) / (10 + self.step))
        for name, tensor in self.learner.state_dict().items():
            self.average[name].lerp_(tensor, 1 - decay)
        self.step += 1
        return True

    def skip(self) -> None:
        """Leave phi alone in this step, whose numbers were not finite."""
        self.skipped += 1
        self.step += 1

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
            load_tensors(self.average, state["average"])
            load_optimiser(self.optimizer, state["optimizer"])
            self.step, self.seconds, self.skipped = load_progress(state, self.settings.steps)
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
        found, owner, kept = read_settings(path, _understood)
        if owner != mark:
            raise InputError("the run belongs to a network with other weights.", folder)
        if not resume and not (join and found == settings):
            raise InputError(
                "there is a run already: go on with --resume, or choose another.", folder
            )
        settings = found
        labels = labels or kept
    assert settings is not None
    if not begun:
        make_folder(folder)
        shared = None if labels is None else str(Path(labels).resolve())
        about = {"model": mark, "labels": shared, "settings": settings.to_dict()}
        write_atomically(path, json.dumps(about, indent=1) + "\n")
    run = MetaRun(folder, model, settings, Path(labels or folder / LABELS))
    run.load()
    return run


def _understood(stored: Any) -> tuple[SmlSettings, str, str | None]:
    """Return settings, the mark of the network and the folder of labels that a run has."""
    labels = stored["labels"]
    if not (labels is None or isinstance(labels, str)):
        raise ValueError("labels is not a folder")
    return SmlSettings.from_dict(stored["settings"]), str(stored["model"]), labels
