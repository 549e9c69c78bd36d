"""The nodes of a TSPLIB-like file: numbers, places and lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from metasage.errors import InputError
from metasage.io.files import quoted
from metasage.io.scan import Document
from metasage.io.section import Section
from metasage.problems.metric import EXPLICIT, METRICS, Floats, Indices, Metric, without_noise

# A symmetric matrix read by columns is the other triangle read by rows.
_TRIANGLES = {
    "UPPER_ROW": (np.triu_indices, 1),
    "LOWER_COL": (np.triu_indices, 1),
    "LOWER_ROW": (np.tril_indices, -1),
    "UPPER_COL": (np.tril_indices, -1),
    "UPPER_DIAG_ROW": (np.triu_indices, 0),
    "LOWER_DIAG_COL": (np.triu_indices, 0),
    "LOWER_DIAG_ROW": (np.tril_indices, 0),
    "UPPER_DIAG_COL": (np.tril_indices, 0),
}


@dataclass(frozen=True)
class Nodes:
    """The nodes of a file, in its own order.

    Parameters
    ----------
    labels
        Their numbers.
    metric
        How edges are measured.
    coords
        Their places, if there are any.
    matrix
        Lengths of all edges, for ``EXPLICIT`` alone.
    """

    labels: Indices
    metric: Metric
    coords: Floats | None = None
    matrix: Floats | None = None

    def fields(self, order: Indices | None = None) -> dict[str, Any]:
        """Return the arguments of an instance, with the nodes in another order."""
        order = np.arange(len(self.labels)) if order is None else order
        return {
            "labels": self.labels[order],
            "metric": self.metric,
            "coords": None if self.coords is None else self.coords[order],
            "matrix": None if self.matrix is None else self.matrix[np.ix_(order, order)],
        }

    def depot_first(self, depot: int) -> Indices:
        """Return an order that starts with one node and leaves the others as they are."""
        return np.concatenate([[depot], np.delete(np.arange(len(self.labels)), depot)])

    def align(self, section: Section) -> Floats:
        """Return the numbers of a section in the order of the nodes."""
        numbers, rows = section.distinct_nodes(), section.table()
        order = np.argsort(self.labels)
        places = np.searchsorted(self.labels[order], numbers)
        places = order[np.minimum(places, len(order) - 1)]
        strays = self.labels[places] != numbers
        if strays.any():
            row = int(np.argmax(strays))
            raise InputError(
                f"{section.name} names node {numbers[row]}, which does not exist.",
                section.path,
                section.line_of(row * rows.shape[1]),
            )
        if len(numbers) < len(self.labels):
            missing = int(np.setdiff1d(self.labels, numbers)[0])
            raise InputError(f"{section.name} lacks node {missing}.", section.path, section.line)
        aligned = np.empty((len(numbers), rows.shape[1] - 1))
        aligned[places] = rows[:, 1:]
        return aligned


def read_nodes(document: Document, *, directed: bool) -> Nodes:
    """Read what an instance needs of its nodes, whatever the problem.

    Parameters
    ----------
    document
        The file.
    directed
        Whether an edge may have different lengths in its two directions.
    """
    size = document.count("DIMENSION")
    metric = _metric(document)
    if metric is EXPLICIT:
        return _explicit_nodes(document, size, directed)
    section = document.section("NODE_COORD_SECTION")
    _check_count(section, size)
    return Nodes(section.distinct_nodes(), metric, coords=section.table()[:, 1:])


def find_depot(document: Document, nodes: Nodes) -> int | None:
    """Return the place of the depot among the nodes, if the file names one."""
    if "DEPOT_SECTION" not in document.sections:
        return None
    section = document.sections["DEPOT_SECTION"].ended()
    depots = section.nodes()
    if len(depots) != 1:
        raise InputError(
            f"DEPOT_SECTION names {len(depots)} depots, and just one is supported.",
            document.path,
            section.line,
        )
    found = np.flatnonzero(nodes.labels == depots[0])
    if not len(found):
        raise InputError(
            f"the depot {depots[0]} is not a node of this file.", document.path, section.line_of(0)
        )
    return int(found[0])


def _metric(document: Document) -> Metric:
    name = document.word("EDGE_WEIGHT_TYPE")
    if not name and "EDGE_WEIGHT_SECTION" in document.sections:
        return EXPLICIT
    if name not in METRICS:
        raise InputError(
            f"EDGE_WEIGHT_TYPE {quoted(name)} is not supported; expected {', '.join(METRICS)}."
            if name
            else f"EDGE_WEIGHT_TYPE is missing; expected {', '.join(METRICS)}.",
            document.path,
            document.line("EDGE_WEIGHT_TYPE"),
        )
    if document.word("NODE_COORD_TYPE") == "THREED_COORDS":
        raise InputError(
            "three-dimensional coordinates are not supported.",
            document.path,
            document.line("NODE_COORD_TYPE"),
        )
    return METRICS[name]


def _check_count(section: Section, size: int) -> None:
    count = len(section.table())
    if count != size:
        raise InputError(
            f"{section.name} has {count} nodes, and DIMENSION says {size}.",
            section.path,
            section.line,
        )


def _explicit_nodes(document: Document, size: int, directed: bool) -> Nodes:
    matrix = _matrix(document, size, directed)
    names = ("NODE_COORD_SECTION", "DISPLAY_DATA_SECTION", "DEMAND_SECTION", "NODE_SCORE_SECTION")
    section = next((document.sections[n] for n in names if n in document.sections), None)
    if section is None:
        return Nodes(np.arange(1, size + 1), EXPLICIT, matrix=matrix)
    _check_count(section, size)
    # The rows of a matrix have no numbers of their own: they are counted on.
    labels = np.sort(section.distinct_nodes())
    if labels[-1] - labels[0] != size - 1:
        raise InputError(
            f"the nodes of {section.name} are not numbered on end, "
            "so the rows of the matrix cannot be told.",
            section.path,
            section.line,
        )
    nodes = Nodes(labels, EXPLICIT, matrix=matrix)
    if section.name not in names[:2]:
        return nodes
    return Nodes(labels, EXPLICIT, coords=nodes.align(section), matrix=matrix)


def _matrix(document: Document, size: int, directed: bool) -> Floats:
    section = document.section("EDGE_WEIGHT_SECTION")
    layout = document.word("EDGE_WEIGHT_FORMAT")
    if layout != "FULL_MATRIX" and layout not in _TRIANGLES:
        raise InputError(
            f"EDGE_WEIGHT_FORMAT {quoted(layout)} is not one of "
            f"FULL_MATRIX, {', '.join(_TRIANGLES)}.",
            document.path,
            document.line("EDGE_WEIGHT_FORMAT") or section.line,
        )
    # Counted before anything of the size of the matrix is made.
    indices, offset = _TRIANGLES.get(layout, (None, 0))
    expected = size * size if indices is None else size * (size + 1 - 2 * abs(offset)) // 2
    if len(section.values) != expected:
        raise InputError(
            f"EDGE_WEIGHT_SECTION has {len(section.values)} numbers, and {layout} "
            f"of {size} nodes needs {expected}.",
            document.path,
            section.line,
        )
    values = np.array(section.values, dtype=np.float64)
    if indices is None:
        matrix = values.reshape(size, size)
    else:
        matrix = np.zeros((size, size))
        matrix[indices(size, offset)] = values
        matrix += matrix.T.copy()
    # Nobody travels from a node to itself; some files have a huge number there.
    np.fill_diagonal(matrix, 0.0)
    matrix = without_noise(matrix)
    if not directed and not np.array_equal(matrix, matrix.T):
        i, j = np.argwhere(matrix != matrix.T)[0]
        raise InputError(
            f"the matrix is not symmetric: row {i + 1} has {matrix[i, j]:g} at {j + 1}, and row "
            f"{j + 1} has {matrix[j, i]:g} at {i + 1}.",
            document.path,
            section.line_of(int(i) * size + int(j)),
        )
    return matrix
