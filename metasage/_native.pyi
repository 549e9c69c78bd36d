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

class RoutesImprover:
    """Local search of one instance of the CVRP, with its neighbour lists.

    Lengths are described as for `TourImprover`; ``demand`` and ``capacity`` are whole
    numbers; ``vehicles``, ``longest`` (length and service of a route) and ``service``
    (of each node) may be left out. Routes are arrays of customers, without the depot,
    which is node 0. Customers for whom there is no vehicle have routes of their own.
    """

    def __init__(self, **arguments: Any) -> None: ...
    def construct(self, *, threads: int, seed: int, seconds_left: float | None) -> list[Tour]:
        """Make routes to start from."""

    def polish(
        self, *, routes: list[Tour], threads: int, seed: int, seconds_left: float | None
    ) -> list[Tour]:
        """Descend from routes to a local optimum."""

    def search(
        self,
        *,
        routes: list[Tour],
        threads: int,
        seed: int,
        kicks: int | None,
        seconds_left: float | None,
        listener: Any,
    ) -> None:
        """Improve routes; ``listener`` is called with objectives."""

    @property
    def best(self) -> Any:
        """Best routes of the last search, also of one that was interrupted."""
