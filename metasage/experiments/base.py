"""What an experiment is, and the table that comes out of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from metasage.adaptation.sage import Preset, Sage
from metasage.errors import InputError
from metasage.experiments.bench import Bench

Cell = str | int | float | None
Draw = Callable[[Any], None]

PROBLEMS = ("tsp", "cvrp", "pctsp", "op")


@dataclass(frozen=True)
class Profile:
    """How much of an experiment is run.

    Parameters
    ----------
    instances
        Number of instances of each size.
    iterations
        Iterations of an adaptation method (TSP and CVRP; half for the others,
        as in the paper).
    rollouts
        Rollouts of an iteration; None for as many as there are nodes.
    problems
        The problems.
    preset
        Preset of SAGE, where the experiment leaves it open.
    recipe
        Recipe of meta-training, where that is a part.
    """

    instances: dict[int, int]
    iterations: int = 200
    rollouts: int | None = None
    problems: tuple[str, ...] = PROBLEMS
    preset: Preset = "default"
    recipe: str = "cpu"

    def iterations_of(self, problem: str) -> int:
        """Return the number of iterations on a problem."""
        return self.iterations // 2 if problem in ("pctsp", "op") else self.iterations

    def plan(self, problem: str) -> dict[str, Any]:
        """Return the settings of a method that the profile decides."""
        return {"iterations": self.iterations_of(problem), "rollouts": self.rollouts}

    def sage(self, problem: str) -> Sage:
        """Return SAGE as the profile has it."""
        return Sage(preset=self.preset, **self.plan(problem))

    def about(self) -> str:
        """Say how large the experiment is."""
        counts = ", ".join(f"{count} of N={size}" for size, count in self.instances.items())
        return (
            f"Planned: instances {counts}; {self.iterations} iterations (PCTSP, OP: half) of "
            f"{self.rollouts or 'N'} rollouts where a method iterates."
        )


# Numbers of instances as in the paper.
PAPER = Profile({200: 1000, 500: 128, 1000: 128}, preset="paper")


@dataclass(frozen=True)
class Table:
    """Rows under headings, for people and for machines.

    Parameters
    ----------
    title
        What is shown.
    columns
        Headings.
    rows
        Cells; numbers are rounded only where they are printed.
    notes
        What a reader must know.
    draw
        Draws the picture on a matplotlib figure, where there is one.
    """

    title: str
    columns: Sequence[str]
    rows: list[list[Cell]]
    notes: list[str] = field(default_factory=list)
    draw: Draw | None = None

    def texts(self) -> list[list[str]]:
        """Return the cells as they are printed."""
        return [[_text(cell) for cell in row] for row in self.rows]

    def markdown(self) -> str:
        """Return the table as Markdown."""
        head = "| " + " | ".join(self.columns) + " |"
        rule = "|" + "---|" * len(self.columns)
        body = ["| " + " | ".join(row) + " |" for row in self.texts()]
        return "\n".join([f"## {self.title}", "", head, rule, *body, "", *self.notes, ""])

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {
            "title": self.title,
            "columns": list(self.columns),
            "rows": self.rows,
            "notes": self.notes,
        }

    def save(self, stem: Path) -> list[Path]:
        """Write the table as Markdown, and its picture; return the files."""
        from metasage.io import write_atomically

        written = [stem.with_suffix(".md")]
        write_atomically(written[0], self.markdown())
        if self.draw is not None:
            from matplotlib.figure import Figure

            figure = Figure(figsize=(9, 6), layout="constrained")
            self.draw(figure)
            written.append(stem.with_suffix(".png"))
            figure.savefig(written[1], dpi=120)
        return written


class Experiment(ABC):
    """A table or figure of the paper, with the settings that make it."""

    name: ClassVar[str]
    shows: ClassVar[str]
    """What it shows, in one line."""
    source: ClassVar[str]
    """Where it stands in the paper."""
    cpu: ClassVar[Profile]
    """What a small machine does in minutes to hours."""
    paper: ClassVar[Profile]
    """The full size."""

    def profile(self, name: str) -> Profile:
        """Return a profile by name."""
        if name not in ("cpu", "paper"):
            raise InputError(f"profile '{name}' is not cpu or paper.")
        return self.cpu if name == "cpu" else self.paper

    @abstractmethod
    def run(self, bench: Bench, profile: Profile) -> Table:
        """Make all searches that are still missing, and the table of all."""


def change(before: float, after: float, problem: str) -> float:
    """Percentage by which a mean objective got better (negative: worse)."""
    sign = -1 if problem == "op" else 1
    return sign * 100 * (before - after) / before


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)
