"""Neural routing policies that adapt, while solving, to larger instances."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metasage.adaptation.active_search import ActiveSearch
    from metasage.adaptation.callbacks import Callbacks
    from metasage.adaptation.eas import Eas
    from metasage.adaptation.eas_tab import EasTab
    from metasage.adaptation.evaluate import evaluate
    from metasage.adaptation.greedy import Greedy
    from metasage.adaptation.result import Result
    from metasage.adaptation.sage import Sage
    from metasage.adaptation.sampling import Sampling
    from metasage.adaptation.sgbs import Sgbs
    from metasage.adaptation.solve import solve
    from metasage.adaptation.stop import FirstOf, MaxIterations, MaxRuntime, NoImprovement, Target
    from metasage.errors import InfeasibleError, InputError, MetasageError
    from metasage.io import read, read_instance, read_set, read_solution, write_solution
    from metasage.problems import Check, Instance, Solution, check
    from metasage.problems.cvrp import Cvrp
    from metasage.problems.op import Op
    from metasage.problems.pctsp import Pctsp
    from metasage.problems.sets import InstanceSet, generate
    from metasage.problems.tsp import Tsp

__version__ = "0.1.0"

# Names are imported when they are first used, so that the command line answers
# at once and files can be read and checked without torch.
_HOMES = {
    "metasage.adaptation.active_search": ("ActiveSearch",),
    "metasage.adaptation.callbacks": ("Callbacks",),
    "metasage.adaptation.eas": ("Eas",),
    "metasage.adaptation.eas_tab": ("EasTab",),
    "metasage.adaptation.evaluate": ("evaluate",),
    "metasage.adaptation.greedy": ("Greedy",),
    "metasage.adaptation.result": ("Result",),
    "metasage.adaptation.sage": ("Sage",),
    "metasage.adaptation.sampling": ("Sampling",),
    "metasage.adaptation.sgbs": ("Sgbs",),
    "metasage.adaptation.solve": ("solve",),
    "metasage.adaptation.stop": (
        "FirstOf",
        "MaxIterations",
        "MaxRuntime",
        "NoImprovement",
        "Target",
    ),
    "metasage.errors": ("InfeasibleError", "InputError", "MetasageError"),
    "metasage.io": ("read", "read_instance", "read_set", "read_solution", "write_solution"),
    "metasage.problems": ("Check", "Instance", "Solution", "check"),
    "metasage.problems.cvrp": ("Cvrp",),
    "metasage.problems.op": ("Op",),
    "metasage.problems.pctsp": ("Pctsp",),
    "metasage.problems.sets": ("InstanceSet", "generate"),
    "metasage.problems.tsp": ("Tsp",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ActiveSearch",
    "Callbacks",
    "Check",
    "Cvrp",
    "Eas",
    "EasTab",
    "FirstOf",
    "Greedy",
    "InfeasibleError",
    "InputError",
    "Instance",
    "InstanceSet",
    "MaxIterations",
    "MaxRuntime",
    "MetasageError",
    "NoImprovement",
    "Op",
    "Pctsp",
    "Result",
    "Sage",
    "Sampling",
    "Sgbs",
    "Solution",
    "Target",
    "Tsp",
    "check",
    "evaluate",
    "generate",
    "read",
    "read_instance",
    "read_set",
    "read_solution",
    "solve",
    "write_solution",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'metasage' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
