"""The state of a run: a file written whole and never executed, in a folder that one trains in."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from metasage.errors import InputError
from metasage.io import write_atomically
from metasage.io.locks import locked

Settings = TypeVar("Settings")

_LOCK = "training.lock"


def make_folder(folder: Path) -> None:
    """Make the folder of a run, if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder cannot be made ({error.strerror}).", folder) from None


@contextmanager
def sole_trainer(folder: Path) -> Iterator[None]:
    """Keep other processes from training the same run for as long as the block runs."""
    with locked(folder / _LOCK) as mine:
        if not mine:
            raise InputError("another process is training this run.", folder)
        yield


def save_state(path: Path, state: dict[str, Any]) -> None:
    """Write plain data and tensors, whole or not at all."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    write_atomically(path, buffer.getvalue())


def load_state(path: Path) -> dict[str, Any] | None:
    """Read what `save_state` wrote; None if there is nothing yet."""
    if not path.exists():
        return None
    try:
        state = torch.load(path, weights_only=True, map_location="cpu")
        return dict(state)
    except Exception as error:
        raise wrong_state(path, error) from None


def load_progress(state: dict[str, Any], steps: int) -> tuple[int, float, int]:
    """Return steps made, seconds spent and steps skipped, if a run of so many steps has them."""
    step, seconds, skipped = int(state["step"]), float(state["seconds"]), int(state["skipped"])
    if not (0 <= skipped <= step <= steps and 0 <= seconds < math.inf):
        raise ValueError(f"step {step} of {steps} after {seconds} s")
    return step, seconds, skipped


def load_tensors(targets: dict[str, Tensor], given: dict[str, Tensor]) -> None:
    """Copy tensors of equal names and shapes."""
    for name, tensor in targets.items():
        if given[name].shape != tensor.shape:
            raise ValueError(f"{name} has the shape {tuple(given[name].shape)}")
        tensor.copy_(given[name])


def load_optimiser(optimiser: torch.optim.Optimizer, given: dict[str, Any]) -> None:
    """Let an optimiser go on from its state, if that fits its parameters."""
    optimiser.load_state_dict(given)
    for parameter, values in optimiser.state.items():
        for name, value in values.items():
            if isinstance(value, Tensor) and value.dim() and value.shape != parameter.shape:
                raise ValueError(f"{name} has the shape {tuple(value.shape)}")


def read_settings(path: Path, understand: Callable[[Any], Settings]) -> Settings:
    """Read the settings of a run.

    Parameters
    ----------
    path
        The file.
    understand
        Makes settings of the plain data in it.

    Raises
    ------
    InputError
        If there is no run, or if the file is not what the run wrote.
    """
    try:
        return understand(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise InputError("there is no run to resume.", path.parent) from None
    except Exception as error:  # whatever somebody made of the file
        raise InputError(f"the settings cannot be read ({_first_line(error)}).", path) from None


def wrong_state(path: Path, error: Exception) -> InputError:
    """Say in one sentence that a file is not the state of the run."""
    return InputError(f"this is not the state of the run ({_first_line(error)}).", path)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")
