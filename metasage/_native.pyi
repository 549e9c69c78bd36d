from typing import Any

import numpy as np
from numpy.typing import NDArray

Tour = NDArray[np.int32]

block: int

def rollout(**arguments: Any) -> dict[str, Any]: ...
def backward(**arguments: Any) -> dict[str, Any]: ...
def norm_forward(**arguments: Any) -> tuple[Any, Any, Any]: ...
def norm_backward(**arguments: Any) -> tuple[Any, Any, Any]: ...
def attention_forward(**arguments: Any) -> Any: ...
def attention_backward(**arguments: Any) -> tuple[Any, Any]: ...
def simd() -> str: ...
def savings(**arguments: Any) -> list[Tour]:
    """Routes of a CVRP by Clarke and Wright; lengths as for `TourImprover`."""

class TourImprover:
    """Local search of one instance of TSP, PCTSP or OP, with its neighbour lists.

    ``measure`` and ``rounding`` are those of `metasage.problems.metric`, ``data``
    the coordinates, or the matrix of lengths for EXPLICIT. PCTSP and OP need
    ``prize`` and ``bound`` (least prize, greatest length), PCTSP ``penalty``, too.
    Tours are arrays of node indices, with the depot if there is one.
    """

    def __init__(self, **arguments: Any) -> None: ...
    def construct(self, *, threads: int, seed: int, seconds_left: float | None) -> list[Tour]:
        """Make tours to start from."""

    def polish(
        self, *, tours: list[Tour], threads: int, seed: int, seconds_left: float | None
    ) -> list[Tour]:
        """Descend from each tour to a local optimum of its own."""

    def search(
        self,
        *,
        tours: list[Tour],
        threads: int,
        seed: int,
        kicks: int | None,
        seconds_left: float | None,
        listener: Any,
    ) -> None:
        """Improve the best of some tours; ``listener`` is called with objectives."""

    @property
    def best(self) -> Any:
        """Best tour of the last search, also of one that was interrupted."""
