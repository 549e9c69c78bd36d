"""Compare solvers: the function behind ``metasage.compare``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metasage import __version__
from metasage.comparison.contestants import choose_contestants
from metasage.comparison.contests import Contest, play, summarise
from metasage.errors import InfeasibleError, InputError
from metasage.numbers import require_finite, require_seed, require_threads, require_time_limit
from metasage.problems import Instance, require_feasible
from metasage.runtime.resources import available_cores

if TYPE_CHECKING:
    from metasage.policies.model import Model

BestKnown = tuple[float, str]
"""An objective to compare with, and where it is from."""

Listener = Callable[[Instance, str, "float | None", float], None]


@dataclass(frozen=True, eq=False)
class Comparison:
    """What several solvers found on several instances.

    Parameters
    ----------
    contests
        One for each instance, with an entry for each solver.
    time_limit, seed, threads
        What they had.
    interrupted
        Whether entries are missing because the user wanted it to end.
    """

    contests: Sequence[Contest]
    time_limit: float
    seed: int
    threads: int
    interrupted: bool

    @property
    def summary(self) -> list[dict[str, Any]]:
        """Mean gap and number of wins of each solver."""
        return summarise(self.contests)

    def plot(self, path: str | Path) -> None:
        """Draw objectives against time into a .png, .svg or .pdf file."""
        from metasage.plotting import plot_comparison, save_figure

        save_figure(plot_comparison(self.contests, self.time_limit), path)

    def to_dict(self) -> dict[str, Any]:
        """Return the plain data of ``metasage compare --json``."""
        return {
            "time_limit": self.time_limit,
            "seed": self.seed,
            "threads": self.threads,
            "files": [contest.to_dict() for contest in self.contests],
            "summary": self.summary,
            "interrupted": self.interrupted,
            "version": __version__,
        }


def compare(
    instances: Instance | Sequence[Instance],
    time_limit: float,
    *,
    methods: Sequence[str] | None = None,
    baselines: Sequence[str] | None = None,
    best_known: Sequence[float | BestKnown | None] | None = None,
    model: Model | str | None = None,
    seed: int = 1234,
    threads: int = 0,
    names: Sequence[str] | None = None,
    listener: Listener | None = None,
) -> Comparison:
    """Let our methods and solvers of others solve the same instances, one after another.

    Parameters
    ----------
    instances
        One instance or several.
    time_limit
        Seconds for each solver and instance.
    methods
        Methods of ours, with ``+final`` or ``+memetic`` for local search; by default SAGE
        in three ways, and ``local-search``.
    baselines
        Solvers of others; by default all that are installed.
    best_known
        Objective of each instance to compare with; by default the best of all.
    model
        Network of our methods.
    seed, threads
        Of our methods; solvers of others run on one core.
    names
        What the instances are called; by default their own names.
    listener
        Called with instance, solver, objective and seconds: when a solver begins, and at
        each improvement.
    """
    try:
        found = [instances] if isinstance(instances, Instance) else list(instances)
    except TypeError:
        found = []
    if not found or not all(isinstance(instance, Instance) for instance in found):
        raise InputError("instances were expected, at least one.")
    time_limit = require_time_limit(time_limit)
    seed = require_seed(seed)
    threads = require_threads(threads)
    labels = [instance.name for instance in found] if names is None else list(names)
    contests = [
        Contest(label, instance, known)
        for label, instance, known in zip(
            labels, found, _references(best_known, len(found)), strict=True
        )
    ]
    for contest in contests:
        try:
            require_feasible(contest.instance)
        except InfeasibleError as error:
            raise InfeasibleError(f"{contest.file}: {error}") from None
    contestants = choose_contestants(found, methods, baselines, model, threads, labels)
    interrupted = False
    try:
        for contest in contests:
            for contestant in contestants:
                if contestant.takes_part(contest.instance):
                    tell = _teller(contest.instance, contestant.name, listener)
                    play(contest, contestant, time_limit, seed, tell)
    except KeyboardInterrupt:
        interrupted = True
    except _FromListener as raised:
        raise raised.error from None
    return Comparison(contests, time_limit, seed, threads or available_cores(), interrupted)


def _references(
    best_known: Sequence[float | BestKnown | None] | None, count: int
) -> list[BestKnown | None]:
    if best_known is None:
        return [None] * count
    if len(best_known) != count:
        raise InputError(f"{len(best_known)} best known values do not fit {count} instances.")
    references: list[BestKnown | None] = []
    for value in best_known:
        if isinstance(value, float | int):
            require_finite("best-known", value)
            value = (value, "--best-known")
        references.append(value)
    return references


def _teller(
    instance: Instance, solver: str, listener: Listener | None
) -> Callable[[float, float], None] | None:
    if listener is None:
        return None
    listener(instance, solver, None, 0.0)

    def tell(seconds: float, objective: float) -> None:
        try:
            listener(instance, solver, objective, seconds)
        except Exception as error:
            raise _FromListener(error) from error

    return tell


class _FromListener(BaseException):
    """What a listener raises: no failure of the solver that was at work."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error
