"""Where scale meta-learners are found: in a model, shipped with the package, or in a file."""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from metasage.errors import InputError, OutsideTraining
from metasage.io.files import located
from metasage.policies.library import WEIGHTS
from metasage.policies.metadata import open_model, plain_metadata
from metasage.policies.model import SML_PREFIX, Model
from metasage.policies.sml import READINGS, Sml

SHIPPED = WEIGHTS / "sml"

_KEY = "metasage-sml"
_SUFFIX = ".safetensors"


def find_sml(name_or_path: str, model: Model, *, wanted: bool = True) -> Sml | None:
    """Find the scale meta-learner that a user asked for.

    Parameters
    ----------
    name_or_path
        ``auto``: the model's own where the method wants one; ``shipped``: the
        model's own; ``none``; the name of a shipped network; or a file.
    model
        The network that it is to be used with.
    wanted
        Whether the method makes use of one by itself.

    Raises
    ------
    InputError
        If there is no such meta-learner, or it does not fit the network.
    """
    if name_or_path == "none" or (name_or_path == "auto" and not wanted):
        return None
    if name_or_path in ("auto", "shipped"):
        found = own_sml(model)
        if found is None and name_or_path == "shipped":
            raise InputError(f"there is no scale meta-learner for the model '{model.name}'.")
        return found
    shipped = _shipped()
    path = shipped.get(name_or_path, Path(name_or_path))
    if path.suffix != _SUFFIX:
        raise InputError(
            f"there is no scale meta-learner '{name_or_path}': the package has "
            f"{', '.join(shipped) or 'none'}, and a file ends in {_SUFFIX}."
        )
    found = replace(load_sml(path), name=name_or_path)
    if found.learner.width != model.config.width:
        raise InputError(
            f"the scale meta-learner is {found.learner.width} wide, and the model "
            f"{model.config.width}.",
            path,
        )
    _require_relation(found, model, path)
    return found


def _require_relation(sml: Sml, model: Model, path: Path) -> None:
    """Refuse the meta-learner of another problem, and warn of one of another network."""
    about = sml.provenance
    problem = about.get("problem", model.config.problem)
    if problem != model.config.problem:
        raise InputError(
            f"the scale meta-learner is one for {problem}, and the model is for "
            f"{model.config.problem}.",
            path,
        )
    if about.get("fingerprint") not in (None, fingerprint(model.policy)):
        warnings.warn(
            f"the scale meta-learner {sml.name} was trained for {about.get('model')}, and not "
            f"for {model.name} as it is: it may do harm.",
            OutsideTraining,
            stacklevel=3,
        )


def own_sml(model: Model) -> Sml | None:
    """Return the meta-learner that came with a model, or was shipped for exactly its weights."""
    if model.sml:
        tensors = {name.removeprefix(SML_PREFIX): tensor for name, tensor in model.sml.items()}
        return replace(Sml.build("official", tensors, {}), name=model.name)
    path = _shipped().get(model.name)
    if path is None:
        return None
    found = load_sml(path)
    if found.provenance.get("fingerprint") != fingerprint(model.policy):
        return None  # of an earlier version of the network: it would do harm
    return replace(found, name=model.name)


def _shipped() -> dict[str, Path]:
    """Return the files of the meta-learners that come with the package, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*" + _SUFFIX))}


def fingerprint(module: nn.Module) -> str:
    """Tell networks apart by their weights, in the precision of shipped files."""
    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().half().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def save_sml(sml: Sml, path: str | Path, dtype: torch.dtype = torch.float32) -> None:
    """Write a meta-learner as safetensors, whole or not at all."""
    from safetensors.torch import save

    from metasage.io import write_atomically

    tensors = {
        name: tensor.detach().cpu().to(dtype).contiguous()
        for name, tensor in sml.learner.state_dict().items()
    }
    about: dict[str, Any] = {"reading": sml.learner.reading, "provenance": sml.provenance}
    write_atomically(path, save(tensors, {_KEY: json.dumps(about)}))


def load_sml(path: str | Path) -> Sml:
    """Read a meta-learner that `save_sml` wrote."""
    with open_model(path, "pt") as file:
        about = plain_metadata(file.metadata(), _KEY, path, "scale meta-learner")
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    reading, provenance = about.get("reading"), about.get("provenance")
    if reading not in READINGS or not isinstance(provenance, dict):
        raise InputError("the file lacks the metadata of a scale meta-learner.", path)
    with located(path):
        if not all(tensor.is_floating_point() for tensor in tensors.values()):
            raise InputError("a tensor of the scale meta-learner does not hold real numbers.")
        _require_provenance(provenance)
        return Sml.build(reading, tensors, provenance)


def _require_provenance(provenance: dict[str, Any]) -> None:
    """Complain about a provenance of which something is used that is not what it should be."""
    sizes = provenance.get("sizes") or []
    texts = (provenance.get(name) or "" for name in ("fingerprint", "problem", "model"))
    if (
        not isinstance(sizes, list)
        or any(type(size) is not int for size in sizes)
        or not all(isinstance(text, str) for text in texts)
    ):
        raise InputError("the provenance of the scale meta-learner is not understood.")
