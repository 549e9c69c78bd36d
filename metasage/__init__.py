"""Neural routing policies that adapt, while solving, to larger instances."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metasage.errors import InfeasibleError, InputError, MetasageError
    from metasage.io import read, read_instance, read_set, read_solution
    from metasage.problems import Check, Instance, Solution, check
    from metasage.problems.sets import InstanceSet, generate

__version__ = "0.1.0"

# Names are imported when they are first used, so that the command line answers
# at once and files can be read and checked without torch.
_HOMES = {
    "metasage.errors": ("InfeasibleError", "InputError", "MetasageError"),
    "metasage.io": ("read", "read_instance", "read_set", "read_solution"),
    "metasage.problems": ("Check", "Instance", "Solution", "check"),
    "metasage.problems.sets": ("InstanceSet", "generate"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Check",
    "InfeasibleError",
    "InputError",
    "Instance",
    "InstanceSet",
    "MetasageError",
    "Solution",
    "check",
    "generate",
    "read",
    "read_instance",
    "read_set",
    "read_solution",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'metasage' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
