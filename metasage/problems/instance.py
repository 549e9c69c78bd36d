"""What all instances and solutions have in common."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from metasage.errors import InputError, visible
from metasage.numbers import kind_of
from metasage.problems.metric import (
    EXACT_2D,
    EXPLICIT,
    Floats,
    Indices,
    Metric,
    Rounding,
    as_floats,
    without_noise,
)

if TYPE_CHECKING:
    from typing import TypedDict

    from numpy.typing import ArrayLike

    from metasage.problems.base import Problem

    class Geometry(TypedDict, total=False):
        """What users may give for the fields of `Instance`: lists as well as arrays."""

        coords: ArrayLike | None
        metric: Metric
        matrix: ArrayLike | None
        labels: ArrayLike
        name: str


# Beyond this a coordinate's square, or a sum of demands, is no longer exact.
LARGEST_VALUE = 1e12

AnyInstance = TypeVar("AnyInstance", bound="Instance")

# Longest name that is shown.
_LONGEST_TITLE = 60

# Rows of the matrix of lengths that are computed at a time.
_ROWS = 256


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Instance:
    """One instance to be solved, in the units of the original data.

    Nodes are counted from 0; where the problem has a depot, it is node 0,
    whatever its number in a file.

    Parameters
    ----------
    coords
        Coordinates of the nodes, shape ``(num_nodes, 2)``; None where only a
        matrix of lengths is known.
    metric
        How edges are measured: by default by the matrix, or else as the straight line.
    matrix
        Lengths of all edges, for the metric ``EXPLICIT`` alone: from the node of the
        row to that of the column.
    labels
        Numbers of the nodes in the original file; 0, 1, ... if not given.
    name
        Name of the instance.
    """

    problem: ClassVar[Problem]

    coords: Floats | None = None
    metric: Metric = field(default=None)  # type: ignore[assignment]
    matrix: Floats | None = None
    labels: Indices = field(default=None)  # type: ignore[arg-type]
    name: str = ""

    def __post_init__(self) -> None:
        if not hasattr(self, "problem"):
            raise InputError("this class is the base of instances: make a Tsp, Cvrp, Pctsp or Op.")
        if self.metric is None:
            object.__setattr__(self, "metric", EXACT_2D if self.matrix is None else EXPLICIT)
        if not isinstance(self.metric, Metric):
            raise InputError(
                f"a metric of metasage.problems.metric was expected, and this is "
                f"{kind_of(self.metric)}."
            )
        if (self.metric.name == "EXPLICIT") != (self.matrix is not None):
            raise InputError("a matrix of lengths and the metric EXPLICIT go together.")
        if self.coords is None and self.matrix is None:
            raise InputError("an instance needs coordinates or a matrix of lengths.")
        if self.coords is not None:
            self._store("coords", self.coords, (_count("coords", self.coords), 2), signed=True)
        if self.matrix is not None:
            self._store_matrix(self.matrix)
        if self.num_nodes < 1:
            raise InputError("an instance needs at least one node.")
        labels = np.arange(self.num_nodes) if self.labels is None else self.labels
        try:
            labels = np.array(labels, dtype=np.int64)
        except (TypeError, ValueError, OverflowError):
            raise InputError("the labels of nodes are not all whole numbers.") from None
        if labels.shape != (self.num_nodes,) or len(np.unique(labels)) != len(labels):
            raise InputError("every node needs a number of its own.")
        labels.setflags(write=False)
        object.__setattr__(self, "labels", labels)

    def __repr__(self) -> str:
        name = f" '{visible(self.name, _LONGEST_TITLE)}'" if self.name else ""
        return f"<{self.problem.name}{name} of {self.size} nodes>"

    def _store_matrix(self, values: Floats) -> None:
        """Validate the matrix of lengths and keep it with nothing on its diagonal."""
        count = _count("matrix", values)
        self._store("matrix", values, (count, count))
        assert self.matrix is not None
        if self.coords is not None and len(self.coords) != len(self.matrix):
            raise InputError(
                f"{len(self.coords)} places do not fit a matrix of {len(self.matrix)} nodes."
            )
        matrix = self.matrix
        # Files put anything there; an empty route must still cost nothing.
        if matrix.diagonal().any():
            matrix = matrix.copy()
            np.fill_diagonal(matrix, 0.0)
        matrix = without_noise(matrix)
        if matrix is not self.matrix:
            object.__setattr__(self, "matrix", as_floats(matrix))
        if not self.problem.directed and self.is_directed:
            raise InputError(
                f"the matrix of lengths is not symmetric, which {self.problem.name} needs."
            )

    def _store(
        self, name: str, values: object, shape: tuple[int, ...], signed: bool = False
    ) -> None:
        """Validate a field and keep it as a read-only float64 array."""
        try:
            array = as_floats(values)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"the {name} values are not all numbers.") from None
        if array.shape != shape:
            raise InputError(f"{name} has the shape {array.shape} and not {shape}.")
        if not np.isfinite(array).all():
            raise InputError(f"{name} holds a value that is not a finite number.")
        if not signed and (array < 0).any():
            raise InputError(f"{name} holds a negative value.")
        if (np.abs(array) > LARGEST_VALUE).any():
            raise InputError(f"{name} holds a value beyond {LARGEST_VALUE:g}.")
        object.__setattr__(self, name, array)

    def _store_number(self, name: str, value: object) -> None:
        """Validate a field that is one positive number."""
        self._store(name, value, ())
        number = float(getattr(self, name))
        if number <= 0:
            raise InputError(f"{name} is {number:g} and must be positive.")
        object.__setattr__(self, name, number)

    @property
    def title(self) -> str:
        """The name as it is shown to people, whatever a file put into it."""
        return visible(self.name, _LONGEST_TITLE) or "the instance"

    @property
    def num_nodes(self) -> int:
        """Number of nodes, the depot included."""
        nodes = self.coords if self.coords is not None else self.matrix
        assert nodes is not None
        return len(nodes)

    @property
    def size(self) -> int:
        """Number of nodes to be visited, which the field calls N."""
        return self.num_nodes - self.problem.has_depot

    @property
    def is_directed(self) -> bool:
        """Whether the way back can be longer than the way there."""
        return self.matrix is not None and self._is_asymmetric

    # A comparison of all lengths, done once, and only where they are given.
    @cached_property
    def _is_asymmetric(self) -> bool:
        assert self.matrix is not None
        return not np.array_equal(self.matrix, self.matrix.T)

    def lengths(self, sources: Indices, targets: Indices) -> Floats:
        """Lengths of the edges from nodes to others, as the problem's objective counts them."""
        if self.matrix is not None:
            return np.asarray(self.matrix[sources, targets])
        assert self.coords is not None
        lengths = self.metric.between(self.coords[sources], self.coords[targets])
        # By the formula of GEO a node would be a kilometre from itself.
        return np.where(np.equal(sources, targets), 0.0, lengths)

    def length_matrix(self) -> Floats:
        """Lengths of all edges; only for sizes whose square fits in memory."""
        if self.matrix is not None:
            return self.matrix
        assert self.coords is not None
        count = self.num_nodes
        lengths = np.empty((count, count))
        # In rows, so that what is needed in between stays small and near.
        for first in range(0, count, _ROWS):
            rows = slice(first, min(first + _ROWS, count))
            lengths[rows] = self.metric.between(self.coords[rows, None], self.coords[None])
        np.fill_diagonal(lengths, 0.0)
        return lengths

    def tour_length(self, nodes: Indices) -> float:
        """Length of the closed tour through nodes in this order."""
        nodes = np.asarray(nodes, dtype=np.int64)
        return float(self.lengths(nodes, np.roll(nodes, -1)).sum()) if len(nodes) else 0.0

    def geometry(self, nodes: Indices) -> dict[str, Any]:
        """Return places and lengths of some nodes, to make another instance of them."""
        matrix = None if self.matrix is None else self.matrix[np.ix_(nodes, nodes)]
        coords = None if self.coords is None else self.coords[nodes]
        return {"coords": coords, "metric": self.metric, "matrix": matrix}

    def with_rounding(self: AnyInstance, rounding: Rounding) -> AnyInstance:
        """Return the same instance with edges rounded in another way."""
        return replace(self, metric=self.metric.rounded(rounding))


def _count(name: str, values: object) -> int:
    """Return the number of rows of what a user gave."""
    try:
        return len(values)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"{name} must have a row for each node.") from None


@dataclass(frozen=True)
class Solution:
    """Routes through the nodes of an instance.

    Parameters
    ----------
    routes
        Node indices of each route in order, without the depot. A TSP has one
        route with all nodes; PCTSP and OP have one route, which may be empty.
    """

    routes: tuple[tuple[int, ...], ...]

    def __init__(self, routes: object) -> None:
        try:
            checked = tuple(tuple(map(index, route)) for route in routes)  # type: ignore[attr-defined]
        except TypeError:
            raise InputError("routes are lists of whole numbers, one list for each.") from None
        object.__setattr__(self, "routes", checked)

    def labelled(self, instance: Instance) -> list[list[int]]:
        """Routes in the numbers of the instance's original file."""
        return [[int(instance.labels[node]) for node in route] for route in self.routes]


@dataclass(frozen=True)
class Check:
    """Verdict of a checker.

    Parameters
    ----------
    objective
        Objective in the problem's own sense, from the original data; None
        where the solution names nodes that do not exist.
    violation
        What is wrong, in one sentence; None if the solution is feasible.
    """

    objective: float | None
    violation: str | None = None

    @property
    def feasible(self) -> bool:
        """Whether the solution breaks no rule."""
        return self.violation is None
