"""CVRPLIB: instances of the CVRP and their solutions."""

from __future__ import annotations

import re
from io import BytesIO, TextIOWrapper
from typing import Any

import numpy as np

from metasage.errors import InputError
from metasage.io.files import AnyPath, quoted
from metasage.io.nodes import Nodes, find_depot, read_nodes
from metasage.io.scan import Document
from metasage.io.section import Section, is_number, words
from metasage.io.solution import FileSolution
from metasage.problems.cvrp import Cvrp
from metasage.problems.instance import LARGEST_VALUE
from metasage.problems.metric import Floats

_IGNORED = {"time", "comment", "name"}
_MOST_DIGITS = 15

_ROUTE = re.compile(rb"(?:^|[\r\n])[ \t]*route[ \t#0-9]*:", re.IGNORECASE)


def read_cvrp(document: Document, name: str) -> Cvrp:
    """Build an instance of the CVRP."""
    capacity = document.number("CAPACITY")
    nodes = read_nodes(document, directed=True)
    section = document.section("DEMAND_SECTION")
    demand = _per_node(nodes, section, "demand")
    depot = find_depot(document, nodes)
    if depot is None and demand[0] != 0:
        raise InputError(
            "DEPOT_SECTION is missing, and the first node has a demand.", document.path
        )
    depot = depot or 0
    _require_none(demand, depot, nodes, section, "demand")
    limits = _limits(document)
    order = nodes.depot_first(depot)
    if "SERVICE_TIME_SECTION" in document.sections:
        section = document.section("SERVICE_TIME_SECTION")
        times = _per_node(nodes, section, "service time")
        _require_none(times, depot, nodes, section, "service time")
        limits["service_time"] = times[order]
    return Cvrp(name=name, demand=demand[order], capacity=capacity, **limits, **nodes.fields(order))


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


def _per_node(nodes: Nodes, section: Section, noun: str) -> Floats:
    """Return the numbers of a section in the order of the nodes, of which none is negative."""
    values = nodes.align(section)[:, 0]
    if (values < 0).any():
        row = int(np.argmax(section.table()[:, 1] < 0))
        raise InputError(f"a {noun} is negative.", section.path, section.line_of(2 * row))
    return values


def _require_none(values: Floats, depot: int, nodes: Nodes, section: Section, noun: str) -> None:
    """Complain about a depot that has something of the customers' own."""
    if values[depot] != 0:
        row = int(np.argmax(section.nodes() == nodes.labels[depot]))
        raise InputError(
            f"the depot {nodes.labels[depot]} has the {noun} {values[depot]:g}, "
            "and 0 was expected.",
            section.path,
            section.line_of(2 * row),
        )


def _limits(document: Document) -> dict[str, Any]:
    """Return what a file's keys limit beside the load."""
    limits: dict[str, Any] = {
        "max_route_length": _limit(document, "DISTANCE"),
        "service_time": _positive(document, "SERVICE_TIME"),
    }
    if _limit(document, "VEHICLES") is not None:
        limits["vehicles"] = document.count("VEHICLES")
    if limits["service_time"] is not None and "SERVICE_TIME_SECTION" in document.sections:
        raise InputError(
            "SERVICE_TIME is given, and SERVICE_TIME_SECTION, too.",
            document.path,
            document.line("SERVICE_TIME"),
        )
    return limits


def _limit(document: Document, key: str) -> float | None:
    """Return a limit; where there is none, some files say 0 and some say infinity."""
    if document.word(key) in ("INF", "INFINITY"):
        return None
    number = _positive(document, key)
    return None if number is None or number > LARGEST_VALUE else number


def _positive(document: Document, key: str) -> float | None:
    """Return the number of a key, and None where there is none or 0."""
    if not document.text(key):
        return None
    number = document.number(key)
    if number < 0:
        raise InputError(f"{key} is negative.", document.path, document.line(key))
    return number or None


def _customer(token: str, path: AnyPath, line: int) -> int:
    if not (token.isascii() and token.isdecimal() and len(token) <= _MOST_DIGITS):
        raise InputError(f"{quoted(token)} is not a customer's number.", path, line)
    return int(token)
