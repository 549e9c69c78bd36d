"""What a search returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metasage import __version__
from metasage.numbers import plain
from metasage.problems import Check, Instance, Solution, check

Stage = tuple[str, float, float]

NETWORK = "network"
"""Name of the stage in which the network constructs."""


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
    """

    instance: Instance
    best: Solution
    check: Check
    curve: list[tuple[float, int, float]]
    iterations: int
    seconds: float
    interrupted: bool
    settings: dict[str, Any] = field(default_factory=dict)
    stages: list[Stage] = field(default_factory=list)
    version: str = __version__

    @property
    def objective(self) -> float:
        """Objective in the problem's own sense, on the original data."""
        assert self.check.objective is not None
        return self.check.objective

    @property
    def feasible(self) -> bool:
        """Whether the checker found no violation."""
        return self.check.feasible

    def plot(self, path: str | Path) -> None:
        """Draw the solution into a .png, .svg or .pdf file."""
        from metasage.plotting import plot_solution, save_figure

        title = f"{self.instance.name}: {plain(self.objective):.10g}"
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
        instance = self.instance
        return {
            "instance": instance.name,
            "problem": instance.problem.name,
            "n": instance.size,
            "sense": instance.problem.sense,
            "objective": plain(self.objective),
            "feasible": self.feasible,
            "violation": self.check.violation,
            "routes": self.best.labelled(instance),
            **self.settings,
            "iterations": self.iterations,
            "seconds": self.seconds,
            "curve": [[seconds, k, plain(value)] for seconds, k, value in self.curve],
            "stages": [[name, seconds, plain(value)] for name, seconds, value in self.stages],
            "version": self.version,
        }


class Incumbent:
    """The best solution so far, by the original objective.

    Parameters
    ----------
    instance
        The instance.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.solution: Solution | None = None
        self.objective: float | None = None
        self.feasible = False

    def offer(self, solution: Solution, objective: float, feasible: bool = True) -> bool:
        """Take a solution if it is better, and say whether it was.

        Any feasible one is better than one that is not, which is better than none.
        """
        if self.objective is not None:
            sign = 1 if self.instance.problem.sense == "min" else -1
            if (not feasible, sign * objective) >= (not self.feasible, sign * self.objective):
                return False
        self.solution, self.objective, self.feasible = solution, objective, feasible
        return True

    def curve(self, seconds: float) -> list[tuple[float, int, float]]:
        """Start the curve of a search: with what is there already, if anything is."""
        return [] if self.objective is None else [(seconds, 0, self.objective)]

    def verdict(self) -> Check:
        """Let the independent checker measure the solution."""
        assert self.solution is not None
        return check(self.instance, self.solution)
