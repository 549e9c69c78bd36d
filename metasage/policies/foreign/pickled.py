"""Open a torch file without executing anything that it says."""

from __future__ import annotations

import pickle
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
    if not path.is_file():
        raise InputError("the file does not exist." if not path.exists() else "not a file.", path)
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception:
        # Training frameworks pickle their own classes beside the weights: try
        # again with a reader that replaces them.
        try:
            return torch.load(
                path, map_location="cpu", weights_only=False, pickle_module=_INERT_PICKLE
            )
        except Exception as error:
            reason = str(error).split("\n")[0] or type(error).__name__
            raise InputError(f"this is not a readable torch file ({reason}).", path) from None


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


_INERT_PICKLE = SimpleNamespace(Unpickler=_InertUnpickler, load=pickle.load, __name__="inert")
