"""LKH through elkai, for the TSP.

LKH (Helsgaun 2000) is free for academic and non-commercial use only; elkai
bundles it, which is why it is an optional extra.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from metasage.baselines.base import DIRECTION, Baseline, Track
from metasage.baselines.child import DID_NOT_FINISH
from metasage.improve.nearest import nearest_neighbour
from metasage.problems import Solution
from metasage.problems.scaling import length_unit, nearest_units

# Units of the longest edge where lengths are not whole.
_RESOLUTION = 1_000_000

# Runs of LKH: one, to have something in time, and then as many as elkai's default.
_RUNS = (1, 10)


class Lkh(Baseline):
    """LKH 2, which decides itself when it is done."""

    name = "lkh"
    problems = ("tsp",)
    in_child = True
    keeps = frozenset({DIRECTION})
    hint = "pip install 'metasage[baselines]' (LKH is free for non-commercial use only)"

    def is_available(self) -> bool:
        """Whether elkai is installed."""
        return find_spec("elkai") is not None

    def search(self, instance: Any, track: Track, seed: int) -> None:
        """Run LKH for a first answer, then longer; elkai takes neither time limit nor seed."""
        if instance.num_nodes <= 3:
            track.offer(Solution([range(instance.num_nodes)]))
            return
        import elkai  # type: ignore[import-untyped]

        lengths = instance.length_matrix()
        matrix = nearest_units(lengths, length_unit(lengths, _RESOLUTION)).tolist()
        for runs in _RUNS:
            track.offer(Solution([elkai.DistanceMatrix(matrix).solve_tsp(runs)[:-1]]))

    def finish(self, instance: Any, track: Track) -> None:
        """Where not even the first run was done in time, answer by nearest neighbour."""
        if track.note == DID_NOT_FINISH:
            track.note += ", this is nearest neighbour"
            track.offer(nearest_neighbour(instance))
