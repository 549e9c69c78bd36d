"""Where models are found: those shipped with the package, and files."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from metasage.errors import InputError

if TYPE_CHECKING:
    from metasage.policies.model import Model

WEIGHTS = Path(__file__).parent / "weights"

# What a file of weights may be called; the first is our own format.
_SUFFIXES = (".safetensors", ".pt", ".pth", ".ckpt")


def shipped_models() -> dict[str, Path]:
    """Return the files of the networks that come with the package, by name."""
    return {path.stem: path for path in sorted(WEIGHTS.glob("*.safetensors"))}


def find_model(name_or_path: str | Path, problem: str | None = None) -> Model:
    """Load a model by the name of a shipped network, or from a file.

    Parameters
    ----------
    name_or_path
        Name of a shipped network, a file of our own, or a published checkpoint
        of another project, which is imported on the fly.
    problem
        Problem of the network, where a published checkpoint leaves it open.

    Raises
    ------
    InputError
        If there is no such network, or the file does not hold one.
    """
    from metasage.policies.foreign import import_checkpoint
    from metasage.policies.model import load_model

    path = require_model(name_or_path)
    is_own = path.suffix == _SUFFIXES[0]
    found = load_model(path) if is_own else import_checkpoint(path, problem)
    return replace(found, name=str(name_or_path))


def require_model(name_or_path: str | Path) -> Path:
    """Return the file of a network, without looking into it.

    Raises
    ------
    InputError
        If there is none.
    """
    name, path = str(name_or_path), Path(name_or_path)
    shipped = shipped_models()
    if name in shipped:
        return shipped[name]
    if path.exists():
        return path
    if path.suffix in _SUFFIXES or set(name) & {"/", os.sep}:
        raise InputError("the file does not exist.", path)
    raise InputError(
        f"there is no model '{name}': the package has {', '.join(shipped) or 'none'}, and a "
        f"file ends in {', '.join(_SUFFIXES)}."
    )


def default_model(problem: str) -> str:
    """Return the name of the shipped network with the best validation for a problem.

    Raises
    ------
    InputError
        If there is none.
    """
    from metasage.policies.metadata import read_metadata

    gaps: dict[str, float] = {}
    for name, path in shipped_models().items():
        config, provenance = read_metadata(path)
        if config.problem == problem:
            gaps[name] = float(provenance.get("gap") or 1.0)
    if not gaps:
        raise InputError(f"no network for {problem} comes with the package: name one by --model.")
    return min(gaps, key=lambda name: gaps[name])
