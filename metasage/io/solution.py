"""Solutions as files state them, before it is known what instance they are for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from metasage.errors import InputError
from metasage.io.files import AnyPath
from metasage.problems.instance import Instance, Solution


@dataclass(frozen=True)
class FileSolution:
    """Routes in the numbers of a file.

    Parameters
    ----------
    routes
        Node numbers of each route.
    format
        The format of the file, which decides what the numbers mean.
    objective
        The objective that the file states, if it does.
    problem
        The problem that the format or the file names, if it does.
    path
        The file.
    lines
        The lines of the numbers, as the routes; empty if they are not known.
    """

    routes: tuple[tuple[int, ...], ...]
    format: Literal["tsplib", "cvrplib", "oplib", "json"]
    objective: float | None = None
    problem: str | None = None
    path: AnyPath | None = None
    lines: tuple[tuple[int, ...], ...] = field(default=(), repr=False, compare=False)

    def resolve(self, instance: Instance) -> Solution:
        """Return the solution in the node indices of an instance.

        Raises
        ------
        InputError
            If it belongs to another problem or names nodes that do not exist.
        """
        if self.problem not in (None, instance.problem.name):
            raise InputError(
                f"this is a solution of {self.problem}, "
                f"and the instance is one of {instance.problem.name}.",
                self.path,
            )
        places = self._numbering(instance)
        for number, route in enumerate(self.routes):
            for position, node in enumerate(route):
                if node not in places:
                    line = self.lines[number][position] if self.lines else None
                    raise InputError(
                        f"node {node} does not exist in {instance.title}.",
                        self.path,
                        line,
                    )
        routes = [[places[node] for node in route] for route in self.routes]
        if self.format == "oplib":
            if routes[0][:1] != [0]:
                raise InputError(
                    f"the tour does not start at the depot {instance.labels[0]}.", self.path
                )
            routes = [routes[0][1:]]
        return Solution(routes)

    def _numbering(self, instance: Instance) -> dict[int, int]:
        """Return the index of each node by its number in this file."""
        labels: list[int] = instance.labels.tolist()
        own = {label: index for index, label in enumerate(labels)}
        if self.format != "cvrplib":
            return own
        # The format counts the customers; some programs write the numbers of
        # the instance's file, or those less one.
        counted = {index: index for index in range(len(labels))}
        less_one = {label - 1: index for index, label in enumerate(labels)}
        used = {node for route in self.routes for node in route}
        customers = set(range(1, len(labels)))
        for numbering in (counted, own, less_one):
            if {numbering.get(node) for node in used} == customers:
                return numbering
        return counted
