"""Local search after the network, or instead of it; no torch in here."""

from __future__ import annotations

import time

from metasage.improve import Improver
from metasage.problems import Instance, Solution
from metasage.runtime.interrupts import Patience
from metasage.runtime.timing import KICKS_PER_NODE, TELLING_SHARE
from metasage.solving.record import CONSTRUCTION, LOCAL_SEARCH, Record


def construct(instance: Instance, threads: int | None) -> Solution:
    """Return an answer for which there is always time, well under a second at 10,000 nodes."""
    from metasage.improve import make_improver, why_no_search

    if why_no_search(instance) is None:
        return make_improver(instance, threads).construct()
    from metasage.improve.nearest import nearest_neighbour

    return nearest_neighbour(instance)


def search_locally(improver: Improver, record: Record, deadline: float | None, seed: int) -> None:
    """Search from the best solution so far, or from constructed ones.

    Parameters
    ----------
    improver
        The local search of the instance.
    record
        What was found so far, and where better solutions go.
    deadline
        Time of `time.monotonic` at which to end; None for a number of kicks that grows
        with the size.
    seed
        Seed of everything random.
    """
    instance = record.instance
    patience = Patience(deadline, record.is_over)
    given = record.best
    record.begin(CONSTRUCTION)
    if given is not None and record.is_over():
        return
    made = [(start, record.offer(start)) for start in improver.starts(patience)]
    made.sort(key=lambda pair: instance.problem.rank(pair[1]))
    record.end(made[0][1].objective)
    record.begin(LOCAL_SEARCH)
    # Of those that break a limit none is a start, but where there is nothing else.
    starts = [start for start, verdict in made if verdict.feasible]
    # What takes no time to make may be better than what the network found, and where
    # nodes are chosen, cores that start from different tours find more.
    if given is not None:
        starts = [given, *starts] if record.best is given else [*starts, given]
    starts = starts or [made[0][0]]
    improver.search(
        starts,
        patience=patience,
        kicks=KICKS_PER_NODE * instance.num_nodes if deadline is None else None,
        seed=seed % 2**32,
        listener=_Teller(improver, record),
    )
    if (found := improver.best) is not None and found != record.best:
        record.offer(found)
    assert record.check is not None
    record.end(record.check.objective)


class _Teller:
    """Offers what local search finds, as often as that costs little."""

    def __init__(self, improver: Improver, record: Record) -> None:
        self.improver, self.record = improver, record
        self.next = 0.0

    def __call__(self, objective: float) -> bool:
        """Take note of a better objective; False ends the search."""
        began = time.monotonic()
        if began >= self.next and (found := self.improver.best) is not None:
            told = self.record.telling
            self.record.offer(found)
            ended = time.monotonic()
            own = ended - began - (self.record.telling - told)  # callbacks are the user's time
            self.next = ended + own / TELLING_SHARE
        return not self.record.is_over(objective)
