"""LKH through elkai, for the TSP.

LKH (Helsgaun 2000) is free for academic and non-commercial use only; elkai
bundles it, which is why it is an optional extra.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from metasage.baselines.base import Track
from metasage.baselines.child import DID_NOT_FINISH, ChildBaseline, Offer
from metasage.baselines.heuristics import nearest_neighbour
from metasage.baselines.scaling import length_unit, nearest_units

# Units of the longest edge where lengths are not whole.
_RESOLUTION = 1_000_000


class Lkh(ChildBaseline):
    """LKH 2, which decides itself when it is done and has nothing to show before."""

    name = "lkh"
    problems = ("tsp",)
    hint = "pip install 'metasage[baselines]' (LKH is free for non-commercial use only)"

    def is_available(self) -> bool:
        """Whether elkai is installed."""
        return find_spec("elkai") is not None

    def search(self, instance: Any, track: Track, seed: int) -> None:
        """Let LKH run in a child; where it takes too long, answer by nearest neighbour."""
        super().search(instance, track, seed)
        if track.note == DID_NOT_FINISH:
            track.note += ", this is nearest neighbour"
            track.offer(nearest_neighbour(instance))

    def search_here(self, instance: Any, seconds: float, seed: int, offer: Offer) -> None:
        """Run LKH once; elkai takes neither a time limit nor a seed."""
        if instance.num_nodes <= 3:
            offer([list(range(instance.num_nodes))])
            return
        import elkai  # type: ignore[import-untyped]

        lengths = instance.length_matrix()
        matrix = nearest_units(lengths, length_unit(lengths, _RESOLUTION))
        offer([elkai.DistanceMatrix(matrix.tolist()).solve_tsp()[:-1]])
