"""What solvers found on an instance, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from metasage.baselines.base import Listener, Outcome
from metasage.errors import MetasageError
from metasage.numbers import plain
from metasage.problems import Instance


class Contestant(Protocol):
    """Whoever solves an instance within a time; all baselines do."""

    @property
    def name(self) -> str:
        """The name in tables."""
        ...

    def takes_part(self, instance: Instance) -> bool:
        """Whether it solves such instances."""
        ...

    def solve(
        self, instance: Instance, seconds: float, seed: int, listener: Listener | None = None
    ) -> Outcome:
        """Solve an instance."""
        ...


@dataclass(frozen=True)
class Entry:
    """One contestant on one instance.

    Parameters
    ----------
    solver
        Name of the contestant.
    outcome
        What it found; None where it failed.
    note
        Why it failed, or what else there is to know.
    """

    solver: str
    outcome: Outcome | None
    note: str


@dataclass
class Contest:
    """All contestants on one instance.

    Parameters
    ----------
    file
        Where the instance is from.
    instance
        The instance.
    best_known
        Objective to compare with, and where it is from; None takes the best of
        this comparison.
    entries
        What was found so far.
    """

    file: str
    instance: Instance
    best_known: tuple[float, str] | None = None
    entries: list[Entry] = field(default_factory=list)

    def best(self) -> float | None:
        """Return the best objective of this comparison."""
        found = [entry.outcome.objective for entry in self.entries if entry.outcome]
        sign = self.instance.problem.sign
        return min(found, key=lambda objective: sign * objective, default=None)

    def reference(self) -> tuple[float | None, str]:
        """Return the objective that gaps refer to, and where it is from."""
        return (self.best(), "best here") if self.best_known is None else self.best_known

    def gap(self, entry: Entry) -> float | None:
        """Return how much worse an entry is than the reference, as a share of it."""
        reference, _ = self.reference()
        if entry.outcome is None or not reference:
            return None
        return self.instance.problem.gap(entry.outcome.objective, reference)

    def is_winner(self, entry: Entry) -> bool:
        """Whether nobody found a better solution."""
        return entry.outcome is not None and entry.outcome.objective == self.best()

    def to_dict(self) -> dict[str, Any]:
        """Return the contest as the plain data of ``metasage compare --json``."""
        reference, source = self.reference()
        return {
            "file": self.file,
            "instance": self.instance.name,
            "problem": self.instance.problem.name,
            "n": self.instance.size,
            "sense": self.instance.problem.sense,
            "reference": None if reference is None else plain(reference),
            "reference_source": source,
            "results": [self._entry_dict(entry) for entry in self.entries],
        }

    def _entry_dict(self, entry: Entry) -> dict[str, Any]:
        found = entry.outcome
        return {
            "solver": entry.solver,
            "objective": None if found is None else plain(found.objective),
            "gap": self.gap(entry),
            "seconds": None if found is None else found.seconds,
            "note": entry.note,
            "routes": None if found is None else found.solution.labelled(self.instance),
            "curve": [] if found is None else [[s, plain(value)] for s, value in found.curve],
        }


def play(
    contest: Contest,
    contestant: Contestant,
    seconds: float,
    seed: int,
    listener: Listener | None = None,
) -> None:
    """Let a contestant solve the instance of a contest; a failure is an entry, too."""
    try:
        outcome = contestant.solve(contest.instance, seconds, seed, listener)
        entry = Entry(contestant.name, outcome, outcome.note)
    except (MetasageError, MemoryError, RuntimeError) as error:  # torch has no memory, say
        sentence = str(error).partition("\n")[0] or "there is not enough memory for this."
        entry = Entry(contestant.name, None, sentence)
    contest.entries.append(entry)


def summarise(contests: Sequence[Contest]) -> list[dict[str, Any]]:
    """Return, for each solver, its mean gap and how often nobody was better."""
    rows: dict[str, dict[str, Any]] = {}
    gaps: dict[str, list[float]] = {}
    for contest in contests:
        for entry in contest.entries:
            row = rows.setdefault(entry.solver, {"solver": entry.solver, "solved": 0, "wins": 0})
            row["solved"] += entry.outcome is not None
            row["wins"] += contest.is_winner(entry)
            gap = contest.gap(entry)
            gaps.setdefault(entry.solver, []).extend([] if gap is None else [gap])
    for solver, row in rows.items():
        row["mean_gap"] = sum(gaps[solver]) / len(gaps[solver]) if gaps[solver] else None
    return list(rows.values())
