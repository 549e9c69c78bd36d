"""What the scale meta-learner adds to SAGE."""

from __future__ import annotations

from metasage.adaptation.sage import Sage
from metasage.experiments.base import PAPER, Cell, Experiment, Profile, Table, change
from metasage.experiments.bench import Bench


class SmlGain(Experiment):
    """SAGE with and without meta-learner at equal iterations, and without at twice as many."""

    name = "sml-gain"
    shows = "SAGE with and without the scale meta-learner at equal iterations"
    source = "section 5.3, effectiveness of SML"
    cpu = Profile({200: 8, 500: 2}, iterations=50, rollouts=100)
    paper = PAPER

    def run(self, bench: Bench, profile: Profile) -> Table:  # noqa: D102
        rows: list[list[Cell]] = []
        for problem in profile.problems:
            planned = profile.iterations_of(problem)
            for size, count in profile.instances.items():
                without, with_sml, longer = (
                    bench.mean(
                        label,
                        problem,
                        size,
                        count,
                        method=Sage(iterations=iterations, rollouts=profile.rollouts),
                        sml=sml,
                    )
                    for label, sml, iterations in (
                        ("without", None, planned),
                        ("with", bench.sml(problem), planned),
                        ("without, twice as long", None, 2 * planned),
                    )
                )
                gain = change(without, with_sml, problem)
                rows.append([problem, size, count, planned, without, with_sml, gain, longer])
        columns = ["problem", "N", "instances", "K", "without SML", "with SML", "gain in %",
                   "without, 2K"]  # fmt: skip
        return Table("SAGE with and without SML", columns, rows)
