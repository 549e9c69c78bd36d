"""Several solvers on the same instances, one after another at one time limit."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from metasage.adaptation.callbacks import Callbacks
from metasage.adaptation.result import NETWORK
from metasage.baselines.base import BaselineError, Listener, Outcome
from metasage.child_process import command
from metasage.errors import MetasageError
from metasage.numbers import plain
from metasage.problems import Instance, Solution

if TYPE_CHECKING:
    from metasage.policies.model import Model


class Contestant(Protocol):
    """Whoever solves an instance within a time; all baselines do."""

    @property
    def name(self) -> str:
        """The name in tables."""
        ...

    def solve(
        self, instance: Instance, seconds: float, seed: int, listener: Listener | None = None
    ) -> Outcome:
        """Solve an instance."""
        ...


LOCAL_SEARCH = "local-search"
"""Our local search without a network: the control of those with one."""


@cache
def seconds_to_load(module: str) -> float:
    """Measure, once, how long a new process takes to load a module of this package."""
    began = time.monotonic()
    subprocess.run(
        command(module),
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the comparison
    )
    return time.monotonic() - began


@dataclass(frozen=True)
class OwnMethod:
    """A method of this package as a contestant.

    Parameters
    ----------
    name
        Name of the method; with ``+final`` or ``+memetic`` local search joins it,
        and ``local-search`` is that alone.
    model
        Network; the shipped one of the problem by default.
    threads
        Number of threads, 0 for all cores.
    """

    name: str
    model: Model | None = None
    threads: int = 0

    def can_solve(self, instance: Instance) -> bool:
        """Whether there is nothing about an instance that is beyond the network."""
        return self.name == LOCAL_SEARCH or instance.problem.why_no_network(instance) is None

    def solve(
        self, instance: Instance, seconds: float, seed: int, listener: Listener | None = None
    ) -> Outcome:
        """Solve an instance.

        Raises
        ------
        BaselineError
            If it found no feasible solution in time.
        KeyboardInterrupt
            If the user interrupts; the comparison ends then.
        """
        from metasage.adaptation.local_search import solve_locally
        from metasage.adaptation.methods import METHODS
        from metasage.adaptation.solve import solve
        from metasage.adaptation.stop import MaxRuntime

        # Who solves one file waits for torch first.
        loading = min(seconds, seconds_to_load(self._slowest_import))
        stop = MaxRuntime(seconds)
        stop.started -= loading
        common: dict[str, Any] = {
            "seed": seed,
            "threads": self.threads,
            "callbacks": _Teller(listener, stop.started),
            "started": stop.started,
        }
        if self.name == LOCAL_SEARCH:
            result = solve_locally(instance, time_limit=seconds, **common)
        else:
            method, _, improve = self.name.partition("+")
            result = solve(
                instance,
                METHODS[method](),
                stop,
                model=self.model,
                improve=improve or "none",
                **common,
            )
        if result.interrupted:
            raise KeyboardInterrupt
        if result.check.violation is not None:
            raise BaselineError(f"{self.name} found no feasible solution: {result.check.violation}")
        curve = tuple((second, objective) for second, _, objective in result.curve)
        parts = {stage for stage, _, _ in result.stages}
        left_out = self.name != LOCAL_SEARCH and NETWORK not in parts
        note = "no time for the network" if left_out else ""
        return Outcome(result.best, result.objective, result.seconds, curve, note)

    @property
    def _slowest_import(self) -> str:
        alone = self.name == LOCAL_SEARCH
        return "metasage.adaptation.local_search" if alone else "metasage.adaptation.solve"


class _Teller(Callbacks):
    """Passes improvements on to a listener."""

    def __init__(self, listener: Listener | None, started: float) -> None:
        self.listener, self.started = listener, started

    def on_best(self, solution: Solution, objective: float, iteration: int) -> None:
        if self.listener is not None:
            self.listener(time.monotonic() - self.started, objective)

    def on_local_search(self, objective: float, seconds: float) -> None:
        if self.listener is not None:
            self.listener(seconds, objective)


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
class Round:
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
        pick: Callable[[Iterable[float]], float] = (
            min if self.instance.problem.sense == "min" else max
        )
        return pick(found) if found else None

    def reference(self) -> tuple[float | None, str]:
        """Return the objective that gaps refer to, and where it is from."""
        return (self.best(), "best here") if self.best_known is None else self.best_known

    def gap(self, entry: Entry) -> float | None:
        """Return how much worse an entry is than the reference, as a share of it."""
        reference, _ = self.reference()
        if entry.outcome is None or not reference:
            return None
        sign = 1 if self.instance.problem.sense == "min" else -1
        return sign * (entry.outcome.objective - reference) / abs(reference)

    def is_winner(self, entry: Entry) -> bool:
        """Whether nobody found a better solution."""
        return entry.outcome is not None and entry.outcome.objective == self.best()

    def to_dict(self) -> dict[str, Any]:
        """Return the round as the plain data of ``metasage compare --json``."""
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
    contest: Round,
    contestant: Contestant,
    seconds: float,
    seed: int,
    listener: Listener | None = None,
) -> None:
    """Let a contestant solve the instance of a round; a failure is an entry, too."""
    try:
        outcome = contestant.solve(contest.instance, seconds, seed, listener)
        entry = Entry(contestant.name, outcome, outcome.note)
    except (MetasageError, MemoryError, RuntimeError) as error:  # torch has no memory, say
        sentence = str(error).partition("\n")[0] or "there is not enough memory for this."
        entry = Entry(contestant.name, None, sentence)
    contest.entries.append(entry)


def summarise(rounds: Sequence[Round]) -> list[dict[str, Any]]:
    """Return, for each solver, its mean gap and how often nobody was better."""
    rows: dict[str, dict[str, Any]] = {}
    gaps: dict[str, list[float]] = {}
    for contest in rounds:
        for entry in contest.entries:
            row = rows.setdefault(entry.solver, {"solver": entry.solver, "solved": 0, "wins": 0})
            row["solved"] += entry.outcome is not None
            row["wins"] += contest.is_winner(entry)
            gap = contest.gap(entry)
            gaps.setdefault(entry.solver, []).extend([] if gap is None else [gap])
    for solver, row in rows.items():
        row["mean_gap"] = sum(gaps[solver]) / len(gaps[solver]) if gaps[solver] else None
    return list(rows.values())
