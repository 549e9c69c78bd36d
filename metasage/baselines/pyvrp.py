"""PyVRP (Wouda, Lan and Kool 2024) for all four problems."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from metasage.baselines.base import LIMITS, Baseline, Track
from metasage.baselines.heuristics import EVERY_PROBLEM
from metasage.problems import Solution


class PyVrp(Baseline):
    """PyVRP's iterated local search, on one core."""

    name = "pyvrp"
    problems = EVERY_PROBLEM
    in_child = True
    keeps = frozenset(LIMITS)
    hint = "pip install 'metasage[baselines]'"

    def is_available(self) -> bool:
        """Whether the package is installed."""
        return find_spec("pyvrp") is not None

    def search(self, instance: Any, track: Track, seed: int) -> None:
        """Search until the time is over."""
        if instance.num_nodes == 1:
            track.offer(Solution([[]] if instance.problem.has_depot else [[0]]))
            return
        from metasage.baselines.pyvrp_model import PyvrpModel
        from metasage.baselines.pyvrp_search import search_routes, search_tour

        search = search_tour if instance.problem.single_tour else search_routes
        search(PyvrpModel(instance), track, seed)
