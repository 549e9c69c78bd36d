"""Local search after the network, or instead of it; no torch in here."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from metasage import extension
from metasage.adaptation.callbacks import Callbacks
from metasage.adaptation.interrupts import Interrupted, interruptible
from metasage.adaptation.result import Incumbent, Result, Stage
from metasage.adaptation.stop import Target
from metasage.errors import InputError
from metasage.improve import Improver, available_cores, make_improver
from metasage.improve.nearest import nearest_neighbour
from metasage.numbers import require_seed
from metasage.problems import Check, Instance, Solution, check, require_feasible

IMPROVE = ("none", "final", "memetic")
"""Local search: not at all, after the network, or on its best rollouts, too."""

Curve = list[tuple[float, int, float]]

# Kept back from a time limit, to check and to write the solution and to leave:
# a share of it, up to so many seconds.
_RESERVED_SHARE, _MOST_RESERVED = 0.1, 0.3

# Without a time limit: kicks or iterations for each node.
_KICKS_PER_NODE = 100


class _TargetReached(Exception):  # noqa: N818 - no error
    """Raised where the search stands when a target is reached."""


def reserve(seconds: float) -> float:
    """Return the seconds of a time limit that are kept back."""
    return min(_MOST_RESERVED, _RESERVED_SHARE * seconds)


def without_network(instance: Instance, threads: int) -> Solution:
    """Return an answer for which there is always time, well under a second at 10,000 nodes."""
    if not extension.is_built():
        return nearest_neighbour(instance)
    return make_improver(instance, threads).construct()


def first_incumbent(instance: Instance, initial: Solution | None) -> Incumbent:
    """Start with what the user gave, if it is feasible, or with nothing."""
    incumbent = Incumbent(instance)
    if initial is not None:
        verdict = check(instance, initial)
        if verdict.violation is not None:
            raise InputError(f"the initial solution is not feasible: {verdict.violation}")
        assert verdict.objective is not None
        incumbent.offer(initial, verdict.objective)
    return incumbent


def finish(
    improver: Improver,
    incumbent: Incumbent,
    curve: Curve,
    stages: list[Stage],
    callbacks: Callbacks,
    *,
    iteration: int,
    started: float,
    deadline: float | None,
    seed: int,
    targets: Sequence[Target] = (),
) -> bool:
    """Search locally from the incumbent until the deadline or until a target is reached.

    Returns
    -------
    bool
        Whether the user ended it.
    """
    instance = incumbent.instance
    kicks = _KICKS_PER_NODE * instance.num_nodes if deadline is None else None
    sign = 1 if instance.problem.sense == "min" else -1

    def hear(_: float, objective: float) -> None:
        if not curve or sign * objective < sign * curve[-1][2]:
            curve.append((time.monotonic() - started, iteration, objective))
            callbacks.on_local_search(objective, curve[-1][0])
        if any(target(iteration, objective) for target in targets):
            raise _TargetReached

    def offer(solution: Solution) -> Check:
        verdict = check(instance, solution)
        assert verdict.objective is not None
        if incumbent.offer(solution, verdict.objective, verdict.feasible) and verdict.feasible:
            hear(0.0, verdict.objective)
        return verdict

    def rank(verdict: Check) -> tuple[bool, float]:
        return not verdict.feasible, sign * (verdict.objective or 0.0)

    def ends(stage: str, objective: float | None) -> None:
        assert objective is not None
        stages.append((stage, time.monotonic() - started, objective))

    interrupted = False
    try:
        with interruptible():
            before = incumbent.solution
            made = [(start, offer(start)) for start in improver.starts(deadline)]
            ends("construction", min((verdict for _, verdict in made), key=rank).objective)
            # Of those that break a limit none is a start: the search then makes its own.
            starts = [start for start, verdict in made if verdict.feasible]
            # What takes no time to make may be better than what the network found, and
            # where nodes are chosen, cores that start from different tours find more.
            if before is not None:
                starts = [before, *starts]
            found = improver.improve(
                starts, deadline=deadline, kicks=kicks, seed=seed, listener=hear
            )
    except (Interrupted, _TargetReached) as end:
        interrupted = isinstance(end, Interrupted)
        found = improver.best or incumbent.solution or improver.construct(time.monotonic())
    with suppress(_TargetReached):
        offer(found)
    ends("local search", incumbent.objective)
    return interrupted


def solve_locally(
    instance: Instance,
    *,
    time_limit: float | None = None,
    seed: int = 1234,
    threads: int = 0,
    initial_solution: Solution | None = None,
    callbacks: Callbacks | None = None,
    started: float | None = None,
    improve: str = "final",
    targets: Sequence[Target] = (),
) -> Result:
    """Solve an instance by local search alone, without a network.

    Parameters
    ----------
    instance
        The instance.
    time_limit
        Seconds from the start; None for a number of kicks that grows with the size.
    seed, threads, initial_solution, callbacks, started
        As for `metasage.solve`.
    improve
        ``none`` leaves local search out, too, so that a solution is constructed and no more.
    targets
        Objectives that are good enough.
    """
    started = time.monotonic() if started is None else started
    callbacks = Callbacks() if callbacks is None else callbacks
    require_seed(seed)
    require_feasible(instance)
    incumbent = first_incumbent(instance, initial_solution)
    callbacks.on_start(instance)
    curve = incumbent.curve(time.monotonic() - started)
    deadline = None if time_limit is None else started + time_limit - reserve(time_limit)
    stages: list[Stage] = []
    interrupted = False
    if improve == "none":
        threads = threads or available_cores()
        solution = without_network(instance, threads)
        verdict = check(instance, solution)
        assert verdict.objective is not None
        stages.append(("construction", time.monotonic() - started, verdict.objective))
        if incumbent.offer(solution, verdict.objective, verdict.feasible) and verdict.feasible:
            curve.append((stages[-1][1], 0, verdict.objective))
    else:
        improver = make_improver(instance, threads or None)
        threads = improver.threads
        interrupted = finish(
            improver,
            incumbent,
            curve,
            stages,
            callbacks,
            iteration=0,
            started=started,
            deadline=deadline,
            seed=seed,
            targets=targets,
        )
    settings: dict[str, Any] = {
        "method": "construction" if improve == "none" else "local-search",
        "parameters": {},
        "preset": "default",
        "model": "none",
        "sml": "none",
        "sml_reading": None,
        "improve": improve,
        "engine": "native" if extension.is_built() else "none",
        "seed": seed,
        "threads": threads,
    }
    assert incumbent.solution is not None
    seconds = time.monotonic() - started
    result = Result(
        instance,
        incumbent.solution,
        incumbent.verdict(),
        curve,
        0,
        seconds,
        interrupted,
        settings,
        stages,
    )
    callbacks.on_end(result)
    return result
