"""What the scale meta-learner adds to SAGE."""

from __future__ import annotations

from metasage.adaptation.sage import Preset, Sage
from metasage.experiments.base import PAPER, Cell, Experiment, Profile, Table, change
from metasage.experiments.bench import Bench

_PRESETS: tuple[Preset, ...] = ("default", "paper")


class SmlGain(Experiment):
    """SAGE with and without meta-learner at equal iterations, and without at twice as many."""

    name = "sml-gain"
    shows = "SAGE with and without the scale meta-learner at equal iterations"
    source = "section 5.3, effectiveness of SML"
    cpu = Profile({200: 8, 500: 4}, iterations=50, rollouts=100)
    paper = PAPER

    def run(self, bench: Bench, profile: Profile) -> Table:  # noqa: D102
        rows = [
            _compared(bench, profile, preset, problem, size, count)
            for preset in _PRESETS
            for problem in profile.problems
            for size, count in profile.instances.items()
        ]
        columns = ["preset", "problem", "N", "instances", "K", "without SML", "with SML",
                   "gain in %", "without, 2K"]  # fmt: skip
        return Table("SAGE with and without SML", columns, rows)


def _compared(
    bench: Bench, profile: Profile, preset: Preset, problem: str, size: int, count: int
) -> list[Cell]:
    planned = profile.iterations_of(problem)
    without, with_sml, longer = (
        bench.mean(
            label,
            problem,
            size,
            count,
            method=Sage(preset=preset, iterations=iterations, rollouts=profile.rollouts),
            sml=sml,
        )
        for label, sml, iterations in (
            ("without", None, planned),
            ("with", bench.sml(problem), planned),
            ("without, twice as long", None, 2 * planned),
        )
    )
    gain = change(without, with_sml, problem)
    return [preset, problem, size, count, planned, without, with_sml, gain, longer]
