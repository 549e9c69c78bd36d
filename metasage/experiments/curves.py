"""EAS against Meta-SAGE over iterations."""

from __future__ import annotations

from typing import Any

from metasage.adaptation.eas import Eas
from metasage.adaptation.method import Method
from metasage.experiments.base import PAPER, Cell, Experiment, Profile, Table
from metasage.experiments.bench import Bench, Found, mean_objective
from metasage.experiments.yardstick import SOLVERS, solve_as_long
from metasage.policies.sml import Sml

_SHARES = (0.0, 0.25, 0.5, 1.0)


class Curves(Experiment):
    """Mean incumbent after each iteration, for four problems and three sizes."""

    name = "curves"
    shows = "incumbent against iterations, EAS and Meta-SAGE, beside a solver"
    source = "figures 4, 5, 7 and 8"
    cpu = Profile({200: 4, 500: 2, 1000: 1}, iterations=30, rollouts=100)
    paper = PAPER

    def run(self, bench: Bench, profile: Profile) -> Table:  # noqa: D102
        panels: dict[tuple[str, int], dict[str, list[float]]] = {}
        rows: list[list[Cell]] = []
        for problem in profile.problems:
            planned = profile.iterations_of(problem)
            methods: dict[str, tuple[Method, Sml | None]] = {
                "EAS": (Eas(iterations=planned, rollouts=profile.rollouts), None),
                "Meta-SAGE": (profile.sage(problem), bench.sml(problem)),
            }
            for size, count in profile.instances.items():
                panel = panels[problem, size] = {}
                for name, (method, sml) in methods.items():
                    found = bench.searches(name, problem, size, count, method=method, sml=sml)
                    panel[name] = mean_curve(found, planned)
                    at = [panel[name][round(share * (planned - 1))] for share in _SHARES]
                    rows.append([problem, size, name, *at])
                if solver := solve_as_long(bench, problem, size, found):
                    mean, name = mean_objective(solver), SOLVERS[problem]
                    panel[name] = [mean] * planned
                    rows.append([problem, size, name, None, None, None, mean])
        columns = ["problem", "N", "method", "first", "quarter", "half", "all iterations"]
        notes = [
            f"Meta-SAGE is SAGE's preset {profile.preset} with SML (first iteration: greedy in "
            "default, else sampled). The solver had the seconds of Meta-SAGE on one core."
        ]
        return Table(
            "Incumbent after a share of the iterations", columns, rows, notes,
            draw=lambda figure: _draw(figure, panels),
        )  # fmt: skip


def mean_curve(found: list[Found], iterations: int) -> list[float]:
    """Mean incumbent after each iteration."""
    total = [0.0] * iterations
    for result in found:
        steps = iter([*result.curve, (0.0, iterations, 0.0)])
        (_, _, objective), (_, until, following) = next(steps), next(steps)
        for iteration in range(iterations):
            while iteration >= until:
                objective = following
                _, until, following = next(steps)
            total[iteration] += objective / len(found)
    return total


def _draw(figure: Any, panels: dict[tuple[str, int], dict[str, list[float]]]) -> None:
    sizes = sorted({size for _, size in panels})
    problems = list(dict.fromkeys(problem for problem, _ in panels))
    figure.set_size_inches(3.2 * len(sizes), 2.4 * len(problems))
    grid = figure.subplots(len(problems), len(sizes), squeeze=False)
    for (problem, size), panel in panels.items():
        axes = grid[problems.index(problem)][sizes.index(size)]
        for name, curve in panel.items():
            style = ":" if name in SOLVERS.values() else "-"
            axes.plot(range(1, len(curve) + 1), curve, style, label=name)
        axes.set_title(f"{problem} {size}", fontsize=9)
        axes.tick_params(labelsize=7)
    for row in grid:  # each has a solver of its own
        row[0].legend(fontsize=7)
    figure.supxlabel("iterations")
