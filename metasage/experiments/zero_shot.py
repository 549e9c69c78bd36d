"""Zero-shot cost with and without the scale meta-learner."""

from __future__ import annotations

from metasage.adaptation.greedy import Greedy
from metasage.experiments.base import PAPER, Cell, Experiment, Profile, Table, change
from metasage.experiments.bench import Bench


class ZeroShot(Experiment):
    """Greedy rollouts from all starts, before any adaptation (K = 0)."""

    name = "zero-shot"
    shows = "cost before adaptation, with and without the scale meta-learner"
    source = "section 5.1: the curves at K = 0"
    cpu = Profile({200: 16, 500: 8, 1000: 2})
    paper = PAPER

    def run(self, bench: Bench, profile: Profile) -> Table:  # noqa: D102
        rows: list[list[Cell]] = []
        for problem in profile.problems:
            for size, count in profile.instances.items():
                without, with_sml = (
                    bench.mean(label, problem, size, count, method=Greedy(), sml=sml)
                    for label, sml in (("without", None), ("with", bench.sml(problem)))
                )
                gain = change(without, with_sml, problem)
                rows.append([problem, size, count, without, with_sml, gain])
        columns = ["problem", "N", "instances", "without SML", "with SML", "gain in %"]
        return Table("Zero-shot, greedy from all starts", columns, rows)
