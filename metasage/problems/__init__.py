"""The problems: one file each, and what they share."""

from metasage.problems.base import (
    Problem,
    all_problems,
    check,
    get_problem,
    require_feasible,
    require_instance,
    require_nodes,
    require_solution,
)
from metasage.problems.instance import Check, Instance, Solution

__all__ = [
    "Check",
    "Instance",
    "Problem",
    "Solution",
    "all_problems",
    "check",
    "get_problem",
    "require_feasible",
    "require_instance",
    "require_nodes",
    "require_solution",
]
