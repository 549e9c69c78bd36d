"""Tables and pictures of what ``adaptation.py`` measured."""

from pathlib import Path
from typing import Any

import adaptation as bench
import numpy as np
from matplotlib.figure import Figure

FOLDER = Path(__file__).parent / "results"
BASE = "eas-lay"


def report() -> None:
    """Print a Markdown table for each experiment, of the instances that are complete."""
    found: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    for record in bench.records():
        found.setdefault((record["experiment"], record["row"]), {})[record["index"]] = record
    for name, experiment in bench.EXPERIMENTS.items():
        rows = {row: found.get((name, row), {}) for row in experiment.rows}
        shared = set.intersection(*(set(r) for r in rows.values()))
        if not shared:
            continue
        indices = sorted(shared)
        print(f"### {experiment.problem.upper()}, N={experiment.size}: {name}\n")
        print(f"{len(indices)} instances, {bench.ITERATIONS} iterations or as many seconds as "
              "`sage-default` takes for them.\n")  # fmt: skip
        table(experiment, {row: [r[i] for i in indices] for row, r in rows.items()})
        draw(name, experiment, {row: [r[i] for i in indices] for row, r in rows.items()})


def table(experiment: bench.Experiment, rows: dict[str, list[dict[str, Any]]]) -> None:
    """Print means, and how often a row is better than EAS, both ways of being equal."""
    sign = -1 if experiment.problem == "op" else 1
    limits = [r["seconds"] for r in rows.get("sage-default", [])]
    columns = {}
    for row, records in rows.items():
        by_iterations = [at(r, iterations=bench.ITERATIONS) for r in records]
        by_seconds = (
            [at(r, seconds=s) for r, s in zip(records, limits, strict=True)] if limits else None
        )
        columns[row] = (None if row in bench.TIMED else by_iterations, by_seconds)
    print("| | equal iterations | better than EAS | equal seconds | better than EAS |")
    print("|---|---|---|---|---|")
    for row, pair in columns.items():
        cells = []
        for values, base in zip(pair, columns.get(BASE, (None, None)), strict=True):
            cells.append("" if values is None else f"{np.mean(values):.4f}")
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


def draw(name: str, experiment: bench.Experiment, rows: dict[str, list[dict[str, Any]]]) -> None:
    """Draw mean incumbents against iterations."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for row, records in rows.items():
        if row in bench.TIMED:
            continue
        means = [
            np.mean([at(r, iterations=k) for r in records]) for k in range(1, bench.ITERATIONS + 1)
        ]
        axes.plot(range(1, bench.ITERATIONS + 1), means, label=row)
    axes.set_xlabel("iterations")
    axes.set_ylabel("mean incumbent")
    axes.set_title(f"{experiment.problem.upper()} {experiment.size}")
    axes.legend(fontsize=8)
    figure.savefig(FOLDER / f"{name}.png", dpi=100)
