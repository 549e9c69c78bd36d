"""What a model file says of itself, read without torch."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from metasage.errors import InputError
from metasage.io.files import located
from metasage.policies.config import PolicyConfig

_KEY = "metasage"
_LONGEST_REASON = 100


def read_metadata(path: str | Path) -> tuple[PolicyConfig, dict[str, Any]]:
    """Read architecture and provenance of a model, and none of its weights.

    Raises
    ------
    InputError
        If the file is not a model that `Model.save` wrote.
    """
    with open_model(path, "np") as file:
        return unpack(file.metadata(), path)


def training_size(provenance: Mapping[str, Any]) -> int | None:
    """Largest size that a network was trained on, if that is known."""
    stages = provenance.get("recipe", {}).get("stages")
    if not stages:
        return None
    return max(int(size) for stage in stages for size in stage.get("sizes") or [stage["size"]])


def pack(config: PolicyConfig, provenance: Mapping[str, Any]) -> dict[str, str]:
    """Turn architecture and provenance into a file's metadata."""
    return {_KEY: json.dumps({"config": config.to_dict(), "provenance": dict(provenance)})}


def unpack(
    metadata: Mapping[str, str] | None, path: str | Path
) -> tuple[PolicyConfig, dict[str, Any]]:
    """Turn a file's metadata into architecture and provenance."""
    about = plain_metadata(metadata, _KEY, path, "metasage model")
    config, provenance = about.get("config"), about.get("provenance")
    if not isinstance(config, dict) or not isinstance(provenance, dict):
        raise InputError("the file lacks the metadata of a metasage model.", path)
    # A name with a colon is code of the user's; no file may ask for that.
    if ":" in str(config.get("problem", "")):
        raise InputError("the file names a problem that is not known.", path)
    with located(path):
        _require_provenance(provenance)
        try:
            return PolicyConfig.from_dict(config), provenance
        except TypeError:  # the problem is missing
            raise InputError("the file lacks the metadata of a metasage model.") from None


def plain_metadata(
    metadata: Mapping[str, str] | None, key: str, path: str | Path, kind: str
) -> dict[str, Any]:
    """Return what a file says of itself under a key; numbers that are not finite are None."""
    try:
        about = json.loads(
            (metadata or {})[key], parse_constant=lambda _: None, parse_float=_finite
        )
    except (KeyError, ValueError, RecursionError):
        about = None
    if not isinstance(about, dict):
        raise InputError(f"the file lacks the metadata of a {kind}.", path)
    return about


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _require_provenance(provenance: dict[str, Any]) -> None:
    """Complain about a provenance of which something is used that is not what it should be."""
    near = provenance.get("near", [0, 0])
    settings = provenance.get("settings", {})
    try:
        training_size(provenance)
        fits = isinstance(near, list) and [type(number) for number in near] == [int, int]
        fits &= isinstance(settings, dict) and all(isinstance(s, dict) for s in settings.values())
        fits &= isinstance(provenance.get("gap") or 0.0, int | float)
    except (AttributeError, KeyError, TypeError, ValueError):
        fits = False
    if not fits:
        raise InputError("the provenance of the network is not understood.")


@contextmanager
def open_model(path: str | Path, framework: str) -> Iterator[Any]:
    """Open a file of tensors, every failure told in one sentence."""
    from safetensors import SafetensorError, safe_open

    if Path(path).is_dir():
        raise InputError("this is a folder, and a file was expected.", path)
    if not Path(path).is_file():
        what = (
            "this is not a file that can be read"
            if Path(path).exists()
            else "the file does not exist"
        )
        raise InputError(f"{what}.", path)
    try:
        with safe_open(path, framework=framework) as file:
            yield file
    except (SafetensorError, OSError) as error:
        reason = str(error).split("\n")[0][:_LONGEST_REASON]
        raise InputError(f"this is not a model of metasage ({reason}).", path) from None
