"""CVRPLIB: instances of the CVRP and their solutions."""

from __future__ import annotations

import re
from io import BytesIO, TextIOWrapper

import numpy as np

from metasage.errors import InputError
from metasage.io.files import AnyPath, quoted
from metasage.io.nodes import find_depot, read_nodes
from metasage.io.scan import Document
from metasage.io.section import is_number, words
from metasage.io.solution import FileSolution
from metasage.problems.cvrp import CvrpInstance

_LIMITS = ("DISTANCE", "SERVICE_TIME")
_IGNORED = {"time", "comment", "name"}
_MOST_DIGITS = 15

_ROUTE = re.compile(rb"(?:^|[\r\n])[ \t]*route[ \t#0-9]*:", re.IGNORECASE)


def read_cvrp(document: Document, name: str) -> CvrpInstance:
    """Build an instance of the CVRP."""
    for key in _LIMITS:
        # Where there is no limit, some files say 0 and some say infinity.
        if is_number(document.text(key)) and float(document.text(key)) > 0:
            raise InputError(
                f"{key} limits the length of a route, which is not supported.",
                document.path,
                document.line(key),
            )
    capacity = document.number("CAPACITY")
    nodes = read_nodes(document)
    section = document.section("DEMAND_SECTION")
    demand = nodes.align(section)[:, 0]
    if (demand < 0).any():
        row = int(np.argmax(section.table()[:, 1] < 0))
        raise InputError("a demand is negative.", document.path, section.line_of(2 * row))
    depot = find_depot(document, nodes)
    if depot is None and demand[0] != 0:
        raise InputError(
            "DEPOT_SECTION is missing, and the first node has a demand.", document.path
        )
    depot = depot or 0
    if demand[depot] != 0:
        row = int(np.argmax(section.nodes() == nodes.labels[depot]))
        raise InputError(
            f"the depot {nodes.labels[depot]} has the demand {demand[depot]:g}, "
            "and 0 was expected.",
            document.path,
            section.line_of(2 * row),
        )
    order = nodes.depot_first(depot)
    return CvrpInstance(name=name, demand=demand[order], capacity=capacity, **nodes.fields(order))


def is_routes(data: bytes) -> bool:
    """Whether a text is a solution of the CVRP."""
    if _ROUTE.search(data) is not None:
        return True
    # A solution without routes still states its cost.
    return (data[:64].lower().split() or [b""])[0].rstrip(b":") == b"cost"


def read_routes(data: bytes, path: AnyPath) -> FileSolution:
    """Read a solution: a line for each route, and one for the cost."""
    routes, lines = [], []
    objective: float | None = None
    text = TextIOWrapper(BytesIO(data), encoding="utf-8-sig", errors="replace", newline=None)
    for number, raw in enumerate(text, start=1):
        head, colon, rest = raw.partition(":")
        key = "".join(head.split()).lower()
        first = (head.lower().split() or [""])[0]
        if colon and re.fullmatch(r"route#?[0-9]*", key):
            route = tuple(_customer(token, path, number) for token in words(rest))
            routes.append(route)
            lines.append((number,) * len(route))
        elif first == "cost":
            cost = raw.replace(":", " ").split()
            if objective is not None or len(cost) != 2 or not is_number(cost[1]):
                raise InputError(
                    f"{quoted(raw.strip())} is not the one line of the cost.", path, number
                )
            objective = float(cost[1])
        elif first not in _IGNORED and raw.strip():
            raise InputError(
                f"{quoted(raw.strip())} is neither 'Route #1: ...' nor 'Cost ...'.", path, number
            )
    return FileSolution(tuple(routes), "cvrplib", objective, "cvrp", path, tuple(lines))


def _customer(token: str, path: AnyPath, line: int) -> int:
    if not (token.isascii() and token.isdecimal() and len(token) <= _MOST_DIGITS):
        raise InputError(f"{quoted(token)} is not a customer's number.", path, line)
    return int(token)
