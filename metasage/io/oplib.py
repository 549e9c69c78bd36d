"""OPLib: instances of the OP and their solutions."""

from __future__ import annotations

import numpy as np

from metasage.errors import InputError
from metasage.io.nodes import find_depot, read_nodes
from metasage.io.scan import Document
from metasage.io.solution import FileSolution
from metasage.problems.op import Op


def read_op(document: Document, name: str) -> Op:
    """Build an instance of the OP; the depot is the first node if none is named."""
    max_length = document.number("COST_LIMIT")
    nodes = read_nodes(document, directed=False)
    section = document.section("NODE_SCORE_SECTION")
    prize = nodes.align(section)[:, 0]
    if (prize < 0).any():
        row = int(np.argmax(section.table()[:, 1] < 0))
        raise InputError("a score is negative.", document.path, section.line_of(2 * row))
    order = nodes.depot_first(find_depot(document, nodes) or 0)
    return Op(name=name, prize=prize[order], max_length=max_length, **nodes.fields(order))


def read_sequence(document: Document) -> FileSolution:
    """Read a solution: the tour from the depot on."""
    section = document.section("NODE_SEQUENCE_SECTION").ended()
    nodes = section.nodes().tolist()
    if "ROUTE_NODES" in document.fields and document.count("ROUTE_NODES") != len(nodes):
        raise InputError(
            f"NODE_SEQUENCE_SECTION has {len(nodes)} nodes, "
            f"and ROUTE_NODES says {document.text('ROUTE_NODES')}.",
            document.path,
            section.line,
        )
    score = document.number("ROUTE_SCORE") if "ROUTE_SCORE" in document.fields else None
    lines = tuple(section.line_of(index) for index in range(len(nodes)))
    return FileSolution((tuple(nodes),), "oplib", score, "op", document.path, (lines,))
