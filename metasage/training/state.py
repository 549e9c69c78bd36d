"""The state of a run as a file: written whole, and never executed when it is read."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import torch

from metasage.errors import InputError
from metasage.io import write_atomically


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


def wrong_state(path: Path, error: Exception) -> InputError:
    """Say in one sentence that a file is not the state of the run."""
    reason = str(error).split("\n")[0]
    return InputError(f"this is not the state of the run ({reason}).", path)
