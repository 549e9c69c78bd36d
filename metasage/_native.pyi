"""Rollout kernels of metasage."""

from collections.abc import Callable
from typing import Any

import numpy
import numpy.typing

block: int = 64

def rollout(**arguments: Any) -> dict[str, Any]:
    """
    Construct or score rollouts of many instances; all arguments by keyword.
    """

def backward(**arguments: Any) -> dict[str, Any]:
    """Gradients of weighted log-likelihoods by the decoder's inputs."""

def norm_forward(
    *,
    x: numpy.typing.NDArray[numpy.float32],
    weight: numpy.typing.NDArray[numpy.float32],
    bias: numpy.typing.NDArray[numpy.float32],
    threads: int,
) -> tuple[
    numpy.typing.NDArray[numpy.float32],
    numpy.typing.NDArray[numpy.float32],
    numpy.typing.NDArray[numpy.float32],
]:
    """Instance norm of embeddings; also returns mean and scale."""

def norm_backward(
    *,
    x: numpy.typing.NDArray[numpy.float32],
    weight: numpy.typing.NDArray[numpy.float32],
    mean: numpy.typing.NDArray[numpy.float32],
    scale: numpy.typing.NDArray[numpy.float32],
    gradient: numpy.typing.NDArray[numpy.float32],
    threads: int,
) -> tuple[
    numpy.typing.NDArray[numpy.float32],
    numpy.typing.NDArray[numpy.float32],
    numpy.typing.NDArray[numpy.float32],
]:
    """Gradients of the instance norm by embeddings, weight and bias."""

def attention_forward(**arguments: Any) -> numpy.typing.NDArray[numpy.float32]:
    """Attention of nodes to each other, which may prefer near ones."""

def attention_backward(
    **arguments: Any,
) -> tuple[numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32]]:
    """Gradients of the nodes' attention by its rows and strengths."""

class TourImprover:
    """
    Local search of one instance of TSP, PCTSP or OP, with its neighbour lists.

    Lengths are described by measure, rounding and data: coordinates, or a matrix. Tours are
    arrays of nodes, with the depot if there is one.
    """

    def __init__(self, **arguments: Any) -> None: ...
    def construct(
        self,
        *,
        threads: int,
        seed: int,
        seconds_left: float | None,
        stopped: Callable[[], bool] | None,
    ) -> list[numpy.typing.NDArray[numpy.int32]]:
        """Make tours to start from."""

    def polish(
        self,
        *,
        tours: list[numpy.typing.NDArray[numpy.int32]],
        threads: int,
        seed: int,
        seconds_left: float | None,
        stopped: Callable[[], bool] | None,
    ) -> list[numpy.typing.NDArray[numpy.int32]]:
        """Descend from each tour to a local optimum."""

    def search(
        self,
        *,
        tours: list[numpy.typing.NDArray[numpy.int32]],
        kicks: int | None,
        listener: Callable[[float], bool | None] | None,
        threads: int,
        seed: int,
        seconds_left: float | None,
        stopped: Callable[[], bool] | None,
    ) -> None:
        """
        Improve tours; the listener is called with objectives, and False ends it.
        """

    @property
    def best(self) -> numpy.typing.NDArray[numpy.int32] | None:
        """Best tours of the last search, also while it goes on."""

class RoutesImprover:
    """
    Local search of one CVRP, with its neighbour lists.

    Lengths are described as for TourImprover. Routes are arrays of customers, without the
    depot, node 0. Customers for whom there is no vehicle have routes of their own.
    """

    def __init__(self, **arguments: Any) -> None: ...
    def construct(
        self,
        *,
        threads: int,
        seed: int,
        seconds_left: float | None,
        stopped: Callable[[], bool] | None,
    ) -> list[numpy.typing.NDArray[numpy.int32]]:
        """Make routes to start from."""

    def polish(
        self,
        *,
        routes: list[numpy.typing.NDArray[numpy.int32]],
        threads: int,
        seed: int,
        seconds_left: float | None,
        stopped: Callable[[], bool] | None,
    ) -> list[numpy.typing.NDArray[numpy.int32]]:
        """Descend from routes to a local optimum."""

    def search(
        self,
        *,
        routes: list[numpy.typing.NDArray[numpy.int32]],
        kicks: int | None,
        listener: Callable[[float], bool | None] | None,
        threads: int,
        seed: int,
        seconds_left: float | None,
        stopped: Callable[[], bool] | None,
    ) -> None:
        """
        Improve routes; the listener is called with objectives, and False ends it.
        """

    @property
    def best(self) -> list[numpy.typing.NDArray[numpy.int32]] | None:
        """Best routes of the last search, also while it goes on."""

def simd() -> str:
    """Name of the instruction set in use."""
