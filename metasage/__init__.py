"""Neural routing policies that adapt, while solving, to larger instances."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metasage.adaptation.active_search import ActiveSearch
    from metasage.adaptation.eas import Eas
    from metasage.adaptation.eas_tab import EasTab
    from metasage.adaptation.greedy import Greedy
    from metasage.adaptation.method import Method, Strategy
    from metasage.adaptation.sage import Sage
    from metasage.adaptation.sampling import Sampling
    from metasage.adaptation.sgbs import Sgbs
    from metasage.comparison.compare import Comparison, compare
    from metasage.errors import InfeasibleError, InputError, MetasageError, MetasageWarning
    from metasage.io import (
        read,
        read_instance,
        read_instances,
        read_set,
        read_solution,
        write_instance,
        write_set,
        write_solution,
    )
    from metasage.plotting import plot
    from metasage.problems import Check, Instance, Problem, Solution, check
    from metasage.problems.cvrp import Cvrp
    from metasage.problems.op import Op
    from metasage.problems.pctsp import Pctsp
    from metasage.problems.sets import InstanceSet, generate
    from metasage.problems.tsp import Tsp
    from metasage.solving.callbacks import Callbacks
    from metasage.solving.evaluate import Evaluation, evaluate
    from metasage.solving.result import Result, Route
    from metasage.solving.solve import solve
    from metasage.stop import (
        Criterion,
        FirstOf,
        MaxIterations,
        MaxRuntime,
        NoImprovement,
        StoppingCriterion,
        Target,
    )

__version__ = "0.1.0"

# Threads that spin while they wait starve each other on a busy machine. This is read when
# torch is loaded, so it has to be said before.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Names are imported when they are first used, so that the command line answers
# at once and files can be read and checked without torch.
_HOMES = {
    "metasage.adaptation.active_search": ("ActiveSearch",),
    "metasage.adaptation.eas": ("Eas",),
    "metasage.adaptation.eas_tab": ("EasTab",),
    "metasage.adaptation.greedy": ("Greedy",),
    "metasage.adaptation.method": ("Method", "Strategy"),
    "metasage.adaptation.sage": ("Sage",),
    "metasage.adaptation.sampling": ("Sampling",),
    "metasage.adaptation.sgbs": ("Sgbs",),
    "metasage.comparison.compare": ("Comparison", "compare"),
    "metasage.errors": ("InfeasibleError", "InputError", "MetasageError", "MetasageWarning"),
    "metasage.io": (
        "read",
        "read_instance",
        "read_instances",
        "read_set",
        "read_solution",
        "write_instance",
        "write_set",
        "write_solution",
    ),
    "metasage.plotting": ("plot",),
    "metasage.problems": ("Check", "Instance", "Problem", "Solution", "check"),
    "metasage.problems.cvrp": ("Cvrp",),
    "metasage.problems.op": ("Op",),
    "metasage.problems.pctsp": ("Pctsp",),
    "metasage.problems.sets": ("InstanceSet", "generate"),
    "metasage.problems.tsp": ("Tsp",),
    "metasage.solving.callbacks": ("Callbacks",),
    "metasage.solving.evaluate": ("Evaluation", "evaluate"),
    "metasage.solving.result": ("Result", "Route"),
    "metasage.solving.solve": ("solve",),
    "metasage.stop": (
        "Criterion",
        "FirstOf",
        "MaxIterations",
        "MaxRuntime",
        "NoImprovement",
        "StoppingCriterion",
        "Target",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ActiveSearch",
    "Callbacks",
    "Check",
    "Comparison",
    "Criterion",
    "Cvrp",
    "Eas",
    "EasTab",
    "Evaluation",
    "FirstOf",
    "Greedy",
    "InfeasibleError",
    "InputError",
    "Instance",
    "InstanceSet",
    "MaxIterations",
    "MaxRuntime",
    "MetasageError",
    "MetasageWarning",
    "Method",
    "NoImprovement",
    "Op",
    "Pctsp",
    "Problem",
    "Result",
    "Route",
    "Sage",
    "Sampling",
    "Sgbs",
    "Solution",
    "StoppingCriterion",
    "Strategy",
    "Target",
    "Tsp",
    "check",
    "compare",
    "evaluate",
    "generate",
    "plot",
    "read",
    "read_instance",
    "read_instances",
    "read_set",
    "read_solution",
    "solve",
    "write_instance",
    "write_set",
    "write_solution",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'metasage' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
