"""TSPLIB: instances of the TSP and tours."""

from __future__ import annotations

from metasage.errors import InputError
from metasage.io.nodes import read_nodes
from metasage.io.scan import Document
from metasage.io.solution import FileSolution
from metasage.problems.tsp import Tsp


def read_tsp(document: Document, name: str) -> Tsp:
    """Build an instance of the TSP."""
    if "SALESMEN" in document.fields and document.count("SALESMEN") != 1:
        raise InputError(
            "more than one salesman is not supported.", document.path, document.line("SALESMEN")
        )
    return Tsp(name=name, **read_nodes(document, directed=True).fields())


def read_tour(document: Document) -> FileSolution:
    """Read a tour."""
    section = document.section("TOUR_SECTION").ended()
    nodes = section.nodes().tolist()
    if "DIMENSION" in document.fields and document.count("DIMENSION") != len(nodes):
        raise InputError(
            f"TOUR_SECTION has {len(nodes)} nodes, "
            f"and DIMENSION says {document.text('DIMENSION')}.",
            document.path,
            section.line,
        )
    lines = tuple(section.line_of(index) for index in range(len(nodes)))
    return FileSolution(
        (tuple(nodes),), "tsplib", problem="tsp", path=document.path, lines=(lines,)
    )
