"""What a model file says of itself, read without torch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from metasage.errors import InputError
from metasage.policies.config import PolicyConfig

_KEY = "metasage"


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
    try:
        about = json.loads((metadata or {})[_KEY])
        return PolicyConfig.from_dict(about["config"]), dict(about["provenance"])
    except InputError as error:
        raise InputError(error.message, path) from None
    except (KeyError, TypeError, ValueError):
        raise InputError("the file lacks the metadata of a metasage model.", path) from None


@contextmanager
def open_model(path: str | Path, framework: str) -> Iterator[Any]:
    """Open a file of tensors, every failure told in one sentence."""
    from safetensors import SafetensorError, safe_open

    if Path(path).is_dir():
        raise InputError("this is a folder, and a file was expected.", path)
    if not Path(path).is_file():
        raise InputError("the file does not exist.", path)
    try:
        with safe_open(path, framework=framework) as file:
            yield file
    except (SafetensorError, OSError) as error:
        reason = str(error).split("\n")[0]
        raise InputError(f"this is not a model of metasage ({reason}).", path) from None
