"""Labels: where a teacher takes the embeddings of an instance, one file each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from torch import Tensor

from metasage.adaptation.sage import Sage
from metasage.errors import InputError
from metasage.io import write_atomically
from metasage.io.locks import locked
from metasage.policies.metadata import open_model
from metasage.policies.model import Model
from metasage.policies.sml_files import fingerprint
from metasage.problems import Instance
from metasage.problems.sets import generate
from metasage.rollout.interface import Engine
from metasage.training.sml.embedding import move_embedding
from metasage.training.sml.settings import SmlSettings
from metasage.training.state import make_folder

_SUFFIX, _SECONDS = ".safetensors", "seconds"


@dataclass(frozen=True)
class Label:
    """A place in the folder of labels.

    Parameters
    ----------
    size
        Size of the instance.
    index
        Its number among those of this size.
    """

    size: int
    index: int

    def path(self, folder: Path) -> Path:
        """File of the label."""
        return folder / f"{self.size}-{self.index:05d}{_SUFFIX}"

    def instance(self, problem: str, seed: int) -> Instance:
        """Draw the instance that is labelled, which depends on nothing else."""
        drawn = np.random.SeedSequence([seed, self.size, self.index]).generate_state(1)[0]
        return generate(problem, self.size, 1, int(drawn))[0]


def all_labels(settings: SmlSettings) -> list[Label]:
    """Return the labels of a run, in the order in which they are made."""
    if not settings.labelled:
        return []
    return [
        Label(size, index) for index in range(settings.labels_per_size) for size in settings.sizes
    ]


def make_labels(
    folder: Path,
    model: Model,
    engine: Engine,
    settings: SmlSettings,
    stopped: Callable[[], bool],
) -> Iterator[Label]:
    """Make the labels that are missing, and yield each one that was made.

    Several processes may do so in the same folder: each label has a lock, which
    the system takes back from a process that was killed.

    Raises
    ------
    InputError
        If a label of another network, teacher or seed is there.
    Interrupted
        If the user ends it in the middle of a label.
    """
    make_folder(folder)
    method, expected = teacher(settings), origin(model, settings)
    problem = model.config.problem
    for label in all_labels(settings):
        if stopped():
            return
        path = label.path(folder)
        if path.exists():
            load_label(path, expected)  # complains of one that was made otherwise
            continue
        with locked(path.with_suffix(".lock")) as mine:
            if not mine or path.exists():
                continue
            began = time.monotonic()
            instance = label.instance(problem, settings.seed)
            moved, _ = move_embedding(instance, model, engine, method, settings.seed)
            _save(path, moved, expected, time.monotonic() - began)
        yield label


def teacher(settings: SmlSettings) -> Sage:
    """Return the method that makes labels: a residual layer on the embeddings."""
    method = Sage(
        preset="paper",
        adapter="embedding",
        iterations=settings.teacher_iterations,
        rollouts=settings.teacher_rollouts or None,
    )
    if settings.teacher == "sage":
        return method
    return replace(method, bias="none", temperature_end=1.0, imitation=0.0)


def origin(model: Model, settings: SmlSettings) -> dict[str, str]:
    """Return all that labels depend on."""
    names = ("teacher", "teacher_iterations", "teacher_rollouts", "seed")
    return {"model": fingerprint(model.policy)} | {n: str(getattr(settings, n)) for n in names}


def load_label(path: Path, expected: dict[str, str]) -> Tensor:
    """Read how far a teacher moved the embeddings of an instance.

    Parameters
    ----------
    path
        File of the label.
    expected
        The `origin` that it must have.
    """
    with open_model(path, "pt") as file:
        found = file.metadata() or {}
        if "moved" not in file.keys() or _SECONDS not in found:  # noqa: SIM118 - not a mapping
            raise InputError("this is not a label; remove it to have it made again.", path)
        for name, value in expected.items():
            if found.get(name) != value:
                raise InputError(
                    f"the label was made with {name} {found.get(name)}, and this run has {value}.",
                    path,
                )
        moved: Tensor = file.get_tensor("moved")
    return moved


def label_seconds(path: Path) -> float:
    """Return how long it took to make a label."""
    with open_model(path, "pt") as file:
        return float((file.metadata() or {})[_SECONDS])


def _save(path: Path, moved: Tensor, about: dict[str, str], seconds: float) -> None:
    from safetensors.torch import save

    metadata = about | {_SECONDS: f"{seconds:.2f}"}
    write_atomically(path, save({"moved": moved.contiguous()}, metadata))
