"""Open a torch file without executing anything that it says."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import torch

from metasage.errors import InputError


def load_pickled(path: Path) -> Any:
    """Return what a torch file holds, with unknown objects made inert.

    Raises
    ------
    InputError
        If the file cannot be read as a torch file.
    """
    if path.is_dir():
        raise InputError("this is a folder, and a file was expected.", path)
    if not path.is_file():
        raise InputError("the file does not exist.", path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, OSError) as error:
        # A broken archive, or one with TorchScript, which torch would compile
        # and run if it were asked a second time.
        raise _unreadable(path, error) from None
    except Exception:
        if not _is_archive(path):
            raise _unreadable(path) from None
    # Training frameworks pickle their own classes beside the weights: try again
    # with a reader that replaces them.
    try:
        return torch.load(path, map_location="cpu", weights_only=False, pickle_module=_INERT_PICKLE)
    except Exception as error:
        raise _unreadable(path, error) from None


def _is_archive(path: Path) -> bool:
    """Tell torch's present format from its old one, a bare sequence of pickles."""
    with path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def _unreadable(path: Path, error: Exception | None = None) -> InputError:
    reason = "" if error is None else str(error).split("\n")[0] or type(error).__name__
    return InputError(f"this is not a readable torch file{reason and f' ({reason})'}.", path)


class Inert:
    """Stands for an object of a class that is not known here; does nothing.

    Parameters
    ----------
    arguments
        What the real class would have been called with; ignored.
    """

    qualified_name: ClassVar[str] = ""

    def __init__(self, *arguments: object, **options: object) -> None:
        pass

    def __call__(self, *arguments: object, **options: object) -> Inert:  # noqa: D102
        return self

    def __setstate__(self, state: object) -> None:
        pass

    def __setitem__(self, key: object, value: object) -> None:
        pass

    def append(self, value: object) -> None:
        """Ignore an item."""

    def extend(self, values: object) -> None:
        """Ignore items."""


# What tensors are made of. None of these runs code that comes from the file.
_ALLOWED = {
    ("collections", "OrderedDict"),
    ("torch", "Size"),
    ("torch._utils", "_rebuild_parameter"),
    ("torch._utils", "_rebuild_tensor_v2"),
    *(("torch", f"{kind}Storage") for kind in ("Float", "Double", "Half", "Long", "Int", "Bool")),
    *(("torch", kind) for kind in ("float32", "float64", "float16", "int64", "device")),
}


class _InertUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _ALLOWED:
            return super().find_class(module, name)
        return type(name, (Inert,), {"qualified_name": f"{module}.{name}"})


_INERT_PICKLE = SimpleNamespace(Unpickler=_InertUnpickler, __name__="inert")
