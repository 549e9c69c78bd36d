"""Tables and pictures of what ``adaptation.py`` measured."""

from pathlib import Path
from typing import Any

import adaptation as bench
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "adaptation-curves.png"
BASE = "eas-lay"
PARTS = "-parts"

Rows = dict[str, list[dict[str, Any]]]


def report() -> None:
    """Print a Markdown table for each experiment, and draw the curves of all."""
    found: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    for record in bench.records():
        found.setdefault((record["experiment"], record["row"]), {})[record["index"]] = record
    curves: dict[str, Rows] = {}
    for name, experiment in bench.EXPERIMENTS.items():
        by_row = {row: found.get((name, row), {}) for row in experiment.rows}
        if name.endswith(PARTS):
            whole = name.removesuffix(PARTS)
            by_row |= {row: found.get((whole, row), {}) for row in ("sage-paper", "sage-default")}
        # Only instances on which all rows were measured are compared.
        indices = sorted(set.intersection(*(set(records) for records in by_row.values())))
        if not indices:
            continue
        rows = {row: [records[i] for i in indices] for row, records in by_row.items()}
        title = f"{experiment.problem.upper()} {experiment.size}"
        print(f"### {title}, {len(indices)} instances\n")
        if name.endswith(PARTS):
            parts_table(rows)
        else:
            table(experiment, rows)
            curves[title] = rows
    draw(curves)


def parts_table(rows: Rows) -> None:
    """Print means after all iterations."""
    print("| | mean |\n|---|---|")
    for row, records in rows.items():
        print(f"| {row} | {np.mean([at(r, iterations=bench.ITERATIONS) for r in records]):.3f} |")
    print()


def table(experiment: bench.Experiment, rows: Rows) -> None:
    """Print means, and how often a row is better than EAS, both ways of being equal."""
    sign = -1 if experiment.problem == "op" else 1
    limits = [record["seconds"] for record in rows["sage-default"]]
    columns = {}
    for row, records in rows.items():
        by_iterations = [at(r, iterations=bench.ITERATIONS) for r in records]
        by_seconds = [at(r, seconds=s) for r, s in zip(records, limits, strict=True)]
        columns[row] = (None if row in bench.TIMED else by_iterations, by_seconds)
    print("| | equal iterations | better than EAS | equal seconds | better than EAS |")
    print("|---|---|---|---|---|")
    for row, pair in columns.items():
        cells = []
        for values, base in zip(pair, columns[BASE], strict=True):
            cells.append("" if values is None else f"{np.mean(values):.3f}")
            wins = ""
            if values is not None and base is not None and row != BASE:
                better = sum(sign * (b - v) > 1e-9 for v, b in zip(values, base, strict=True))
                wins = f"{better} of {len(values)}"
            cells.append(wins)
        print(f"| {row} | " + " | ".join(cells) + " |")
    print()


def at(
    record: dict[str, Any], iterations: int | None = None, seconds: float | None = None
) -> float:
    """Incumbent of a search after some iterations or seconds (its first one at least)."""
    curve = record["curve"]
    kept = [
        o
        for s, i, o in curve
        if (iterations is None or i < iterations) and (seconds is None or s <= seconds + 0.01)
    ]
    return float(kept[-1] if kept else curve[0][2])


def draw(curves: dict[str, Rows]) -> None:
    """Draw mean incumbents against iterations, a panel for each experiment."""
    figure = Figure(figsize=(13, 6), layout="constrained")
    panels = figure.subplots(2, -(-len(curves) // 2), squeeze=False).flat
    for axes, (title, rows) in zip(panels, curves.items(), strict=False):
        draw_panel(axes, title, rows)
    figure.supxlabel("iterations")
    figure.supylabel("mean incumbent")
    figure.savefig(PICTURE, dpi=90)


def draw_panel(axes: Axes, title: str, rows: Rows) -> None:
    """Draw the curves of one experiment."""
    steps = range(1, bench.ITERATIONS + 1)
    for row, records in rows.items():
        if row not in bench.TIMED:
            means = [np.mean([at(r, iterations=k) for r in records]) for k in steps]
            axes.plot(steps, means, label=row)
    axes.set_title(title)
    axes.legend(fontsize=7)
