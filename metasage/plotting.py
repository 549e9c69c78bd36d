"""Pictures of solutions and of how they were found."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from metasage.errors import InputError, visible
from metasage.io import write_atomically
from metasage.io.files import require_path
from metasage.problems import require_instance, require_nodes, require_solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metasage.comparison.contests import Contest
    from metasage.problems import Instance, Solution
    from metasage.solving.result import Result

FORMATS = (".png", ".svg", ".pdf")

DRAWING = ("matplotlib.figure", "matplotlib.backends.backend_agg")
"""Modules that take long to load, and that pictures need."""

MOST_PANELS = 6
"""Files of a comparison that are drawn."""
_LONGEST_TITLE = 100
EARLIEST = 0.01
"""Seconds at which the logarithmic axis of a comparison starts."""


def require_picture_suffix(path: str | Path) -> None:
    """Complain about a file whose suffix is not that of a picture."""
    require_path(path)
    if Path(path).suffix.lower() not in FORMATS:
        raise InputError(f"a picture is written as {', '.join(FORMATS)}.", path)


def require_places(instance: Instance) -> None:
    """Complain about an instance that cannot be drawn."""
    if instance.coords is None:
        raise InputError(f"{instance.title} has no coordinates to draw.")


def plot(instance: Instance, solution: Solution, path: str | Path, title: str = "") -> None:
    """Draw a solution into a .png, .svg or .pdf file.

    Parameters
    ----------
    instance
        An instance with coordinates.
    solution
        Routes through its nodes.
    path
        The file.
    title
        What stands above the picture.
    """
    require_instance(instance)
    require_solution(solution)
    require_picture_suffix(path)
    save_figure(plot_solution(instance, solution, title), path)


def plot_solution(instance: Instance, solution: Solution, title: str = "") -> Figure:
    """Draw the routes of a solution.

    Raises
    ------
    InputError
        If the instance has no coordinates, or not the nodes of the solution.
    """
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    require_places(instance)
    require_nodes(instance, solution)
    assert instance.coords is not None
    # Without a layout that would have to be found, which draws everything twice.
    figure = Figure(figsize=(7, 7))
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.01, top=0.94)
    axes = figure.subplots()
    colours = colormaps["turbo"]
    has_depot = instance.problem.has_depot
    places = instance.coords
    axes.scatter(places[:, 0], places[:, 1], s=6, color="0.6", zorder=2)
    routes = [list(route) for route in solution.routes if route]
    shades = colours((np.arange(len(routes)) + 0.5) / max(1, len(routes)))
    walks = [[0, *route, 0] if has_depot else [*route, *route[:1]] for route in routes]
    # Drawn together: one by one, thousands of routes would take long.
    lines = [places[walk] for walk in walks]
    axes.add_collection(LineCollection(lines, colors=shades, linewidths=1.0, zorder=1))
    visited = [node for route in routes for node in route]
    of_nodes = np.repeat(shades, [len(route) for route in routes], axis=0)
    axes.scatter(places[visited, 0], places[visited, 1], s=8, color=of_nodes, zorder=3)
    if has_depot:
        axes.scatter(places[:1, 0], places[:1, 1], s=70, marker="s", color="black", zorder=4)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(visible(title, _LONGEST_TITLE), parse_math=False)
    return figure


def plot_curve(result: Result) -> Figure:
    """Draw the best objective against time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    seconds = [row[0] for row in result.curve] + [result.seconds]
    values = [row[2] for row in result.curve] + [result.objective]
    axes.step(seconds, values, where="post")
    for name, end, _ in result.stages[:-1]:
        axes.axvline(end, color="0.7", linestyle=":")
        axes.annotate(f"{name} ", (end, values[0]), ha="right", va="top", fontsize="small")
    axes.set_xlabel("seconds")
    axes.set_ylabel("best objective")
    axes.set_title(result.instance.title, parse_math=False)
    return figure


def plot_comparison(contests: Sequence[Contest], time_limit: float) -> Figure:
    """Draw the best objective of each solver against time, a panel for each of the first files."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    shown = contests[:MOST_PANELS]
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    figure = Figure(figsize=(6 * columns, 4 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).flatten()
    solvers = list(dict.fromkeys(entry.solver for one in contests for entry in one.entries))
    for axes, contest in zip(panels, shown, strict=False):
        for entry in contest.entries:
            if entry.outcome is None:
                continue
            seconds, values = zip(*entry.outcome.curve, strict=True)
            end = max(time_limit, entry.outcome.seconds)
            axes.step(
                [*(max(second, EARLIEST) for second in seconds), end],
                [*values, values[-1]],
                where="post",
                marker=".",
                label=entry.solver,
                color=colormaps["tab10"](solvers.index(entry.solver) % 10),
            )
        if contest.best_known is not None:
            axes.axhline(contest.best_known[0], color="0.5", linestyle=":", label="best known")
        axes.set_xscale("log")
        axes.set_xlabel("seconds")
        axes.set_ylabel("best objective")
        axes.set_title(contest.instance.title, parse_math=False)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize="small")
    for axes in panels[len(shown) :]:
        axes.set_axis_off()
    return figure


def to_svg(figure: Figure) -> str:
    """Return a picture as an element that can stand inside a page."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg")
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a picture, whole or not at all."""
    require_picture_suffix(path)
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        # A letter that the font lacks is a box in the picture.
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        kind = Path(path).suffix.lower().lstrip(".")
        # Small enough, in a third of the time.
        options: dict[str, Any] = {"pil_kwargs": {"compress_level": 1}} if kind == "png" else {}
        figure.savefig(buffer, format=kind, dpi=150, **options)
    write_atomically(path, buffer.getvalue())
