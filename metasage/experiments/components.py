"""The paper's ablation: one component of Meta-SAGE after another."""

from __future__ import annotations

from dataclasses import replace

from metasage.adaptation.sage import Sage
from metasage.experiments.base import PAPER, Cell, Experiment, Profile, Table
from metasage.experiments.bench import Bench

_TSP_AND_CVRP = ("tsp", "cvrp")

# (SML, locality bias, its schedule, temperature schedule), as the paper's rows.
_ROWS = (
    (False, False, False, False),
    (True, False, False, False),
    (True, True, False, False),
    (True, True, True, False),
    (True, True, True, True),
)


class Components(Experiment):
    """From plain adaptation to Meta-SAGE, at N = 500, by the paper's own schedules."""

    name = "components"
    shows = "ablation of SML, locality bias, its schedule and the temperature schedule"
    source = "table 3"
    cpu = Profile({500: 2}, iterations=50, rollouts=100, problems=_TSP_AND_CVRP)
    paper = replace(PAPER, instances={500: 128}, problems=_TSP_AND_CVRP)

    def run(self, bench: Bench, profile: Profile) -> Table:  # noqa: D102
        ((size, count),) = profile.instances.items()
        rows: list[list[Cell]] = []
        for sml, bias, bias_schedule, temperature_schedule in _ROWS:
            method = Sage(
                preset="paper",
                bias=None if bias else "none",
                alpha_end=None if bias_schedule else 1.0,
                temperature_end=0.3 if temperature_schedule else 1.0,
                iterations=profile.iterations,
                rollouts=profile.rollouts,
            )
            marks = [mark(on) for on in (sml, bias, bias_schedule, temperature_schedule)]
            means = [
                bench.mean(
                    " ".join(marks), problem, size, count, method=method,
                    sml=bench.sml(problem) if sml else None,
                )
                for problem in profile.problems
            ]  # fmt: skip
            rows.append([*marks, *means])
        columns = ["SML", "bias", "its schedule", "temperature schedule",
                   *(f"{problem} {size}" for problem in profile.problems)]  # fmt: skip
        notes = ["SAGE's preset paper, whatever the profile."]
        return Table("Components of Meta-SAGE", columns, rows, notes)


def mark(on: bool) -> str:
    """Return the mark of a component that is on or off."""
    return "yes" if on else "-"
