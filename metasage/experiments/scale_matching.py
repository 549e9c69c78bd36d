"""Whether the meta-learner does best when it is told the true scale."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from metasage.adaptation.greedy import Greedy
from metasage.experiments.base import PAPER, Cell, Experiment, Profile, Table
from metasage.experiments.bench import Bench
from metasage.policies.sml import ScaleMetaLearner
from metasage.problems.batch import Batch

_TOLD = (100, 200, 300, 500, 700, 1000, 1500)


class ScaleMatching(Experiment):
    """Zero-shot cost as a function of the scale that is fed in."""

    name = "scale-matching"
    shows = "zero-shot cost against the scale that is fed to the meta-learner"
    source = "figure 6"
    cpu = Profile({200: 8, 500: 4, 1000: 1}, problems=("tsp", "cvrp"))
    paper = replace(PAPER, problems=("tsp", "cvrp"))

    def run(self, bench: Bench, profile: Profile) -> Table:  # noqa: D102
        rows: list[list[Cell]] = []
        for problem in profile.problems:
            found = bench.sml(problem)
            for size, count in profile.instances.items():
                costs = [
                    bench.mean(
                        f"told {told}", problem, size, count, method=Greedy(),
                        sml=replace(found, learner=Told(found.learner, told)),
                    )
                    for told in _TOLD
                ]  # fmt: skip
                best = _TOLD[costs.index(min(costs))]
                spread = 100 * (max(costs) / min(costs) - 1)
                rows.append([problem, size, count, *costs, best, spread])
        columns = ["problem", "N", "instances", *(f"told {told}" for told in _TOLD), "lowest at",
                   "spread in %"]  # fmt: skip
        return Table(
            "Cost by the scale told", columns, rows, draw=lambda figure: _draw(figure, rows)
        )


class Told(ScaleMetaLearner):
    """A meta-learner that is told a size other than the true one.

    Parameters
    ----------
    learner
        Whose weights it has.
    size
        What it is told.
    """

    def __init__(self, learner: ScaleMetaLearner, size: float) -> None:
        with torch.device("meta"):
            super().__init__(learner.reading, learner.width, learner.hidden.out_features)
        self.load_state_dict(learner.state_dict(), assign=True)
        self.told = size

    def scale(self, batch: Batch, size: float | None = None) -> Tensor:
        """Return the scale of the size that it was told."""
        return super().scale(batch, self.told)


def _draw(figure: Any, rows: list[list[Cell]]) -> None:
    axes = figure.subplots(1, len(rows), squeeze=False)[0]
    figure.set_size_inches(2.8 * len(rows), 2.8)
    for panel, (problem, size, _, *costs, _best, _spread) in zip(axes, rows, strict=True):
        panel.plot(_TOLD, costs, "o-", markersize=3)
        panel.axvline(size, color="grey", linestyle=":")
        panel.set_title(f"{problem} {size}", fontsize=9)
        panel.tick_params(labelsize=7)
    figure.supxlabel("scale fed in (dotted: the true one)")
