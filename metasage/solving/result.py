"""What a search returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from metasage import __version__
from metasage.numbers import plain
from metasage.problems import Check, Instance, Solution, check
from metasage.problems.base import closed
from metasage.solving.record import Curve, Record, Stage


@dataclass(frozen=True)
class Route:
    """A route of a solution.

    Parameters
    ----------
    nodes
        Numbers of its nodes in the instance's original file, without the depot.
    length
        Its length, with the ways from and to the depot where there is one.
    load
        What it carries (CVRP) or collects (PCTSP, OP); None for the TSP.
    """

    nodes: tuple[int, ...]
    length: float
    load: float | None


@dataclass(frozen=True, eq=False)
class Result:
    """The best solution and how it was found.

    Parameters
    ----------
    instance
        The instance.
    best
        The best solution.
    check
        The checker's verdict on it.
    curve
        Seconds, iteration and objective at each improvement.
    iterations
        Number of iterations done.
    seconds
        Time since the start.
    interrupted
        Whether the search was cut short from outside.
    settings
        Method, model, engine, seed and all that made the result.
    stages
        Name, end in seconds and best objective of its own of each part of the search:
        network, construction (what takes no time to make), local search.
    found_by
        Name of the part that found the best solution; ``initial solution`` if the user did.
    """

    instance: Instance
    best: Solution
    check: Check
    curve: Curve
    iterations: int
    seconds: float
    interrupted: bool
    settings: dict[str, Any] = field(default_factory=dict)
    stages: list[Stage] = field(default_factory=list)
    found_by: str = ""
    version: str = __version__

    @classmethod
    def of(cls, record: Record, settings: dict[str, Any]) -> Result:
        """Sum up a search, after one more look by the checker."""
        assert record.best is not None
        return cls(
            record.instance,
            record.best,
            check(record.instance, record.best),
            record.curve,
            record.iteration,
            record.seconds,
            record.interrupted(),
            settings,
            record.stages,
            record.found_by,
        )

    @property
    def objective(self) -> float:
        """Objective in the problem's own sense, on the original data."""
        assert self.check.objective is not None
        return self.check.objective

    @property
    def feasible(self) -> bool:
        """Whether the checker found no violation."""
        return self.check.feasible

    @property
    def routes(self) -> list[Route]:
        """The routes of the best solution, with length and load of each."""
        instance, problem = self.instance, self.instance.problem
        return [
            Route(
                tuple(int(instance.labels[node]) for node in route),
                instance.tour_length(closed(route) if problem.has_depot else np.array(route)),
                problem.load(instance, route),
            )
            for route in self.best.routes
            if route
        ]

    def plot(self, path: str | Path) -> None:
        """Draw the solution into a .png, .svg or .pdf file."""
        from metasage.plotting import plot_solution, save_figure

        title = f"{self.instance.title}: {plain(self.objective):.10g}"
        save_figure(plot_solution(self.instance, self.best, title), path)

    def plot_curve(self, path: str | Path) -> None:
        """Draw the best objective against time into a .png, .svg or .pdf file."""
        from metasage.plotting import plot_curve, save_figure

        save_figure(plot_curve(self), path)

    def _repr_html_(self) -> str:
        """Show the main facts and the picture in a notebook."""
        from html import escape

        facts = {
            "instance": self.instance.name,
            "problem": f"{self.instance.problem.name} of {self.instance.size} nodes",
            "objective": f"{plain(self.objective):.10g}",
            "feasible": "yes" if self.feasible else f"no: {self.check.violation}",
            "method": self.settings.get("method", ""),
            "model": self.settings.get("model", ""),
            "iterations": self.iterations,
            "seconds": f"{self.seconds:.1f}",
        }
        rows = "".join(
            f"<tr><th>{name}</th><td>{escape(str(value))}</td></tr>"
            for name, value in facts.items()
        )
        return f"<table>{rows}</table>{self._picture()}"

    def _picture(self) -> str:
        """Return the picture as SVG, empty where there are no coordinates."""
        if self.instance.coords is None:
            return ""
        from metasage.plotting import plot_solution, to_svg

        return to_svg(plot_solution(self.instance, self.best))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as the plain data of ``metasage solve --json``."""
        instance, routes = self.instance, self.routes
        return {
            "instance": instance.name,
            "problem": instance.problem.name,
            "n": instance.size,
            "sense": instance.problem.sense,
            "objective": plain(self.objective),
            "feasible": self.feasible,
            "violation": self.check.violation,
            "routes": self.best.labelled(instance),
            "route_lengths": [plain(route.length) for route in routes],
            "route_loads": [None if r.load is None else plain(r.load) for r in routes],
            "found_by": self.found_by,
            **self.settings,
            "iterations": self.iterations,
            "seconds": self.seconds,
            "curve": [[seconds, k, plain(value)] for seconds, k, value in self.curve],
            "stages": [[name, seconds, plain(value)] for name, seconds, value in self.stages],
            "version": self.version,
        }
