"""PyVRP on several cores: one search in this process, the others in helpers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType

from metasage.improve.helper import Helper
from metasage.improve.pyvrp_search import PyvrpSearch
from metasage.problems.cvrp import CvrpInstance

Routes = list[list[int]]


@dataclass(frozen=True)
class Job:
    """Routes to start from, those of an instance or of a part of one.

    Parameters
    ----------
    instance
        What the routes belong to.
    routes
        Feasible routes.
    seed
        Seed of the search.
    """

    instance: CvrpInstance
    routes: Routes
    seed: int


class Team:
    """Searches several jobs at once. As a context manager it ends its processes.

    Parameters
    ----------
    prepare
        Makes the search of an instance for this process.
    """

    def __init__(self, prepare: Callable[[CvrpInstance], PyvrpSearch] = PyvrpSearch) -> None:
        self._prepare = prepare
        self._helpers: list[Helper] = []

    def __enter__(self) -> Team:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for helper in self._helpers:
            helper.close()

    def search_here(
        self, job: Job, end: float | None, kicks: int | None, offer: Callable[[Routes], None]
    ) -> None:
        """Search one job in this process, until a time or for a number of iterations."""
        self._prepare(job.instance).run(job.routes, end, kicks, job.seed, offer)

    def search(
        self,
        jobs: Sequence[Job],
        end: float,
        offer: Callable[[int, Routes], None],
    ) -> None:
        """Search until a time of `time.monotonic`, the first job in this process.

        Parameters
        ----------
        jobs
            One for each process.
        end
            When to come back.
        offer
            Called with the number of a job and better routes.
        """
        while len(self._helpers) < len(jobs) - 1:
            self._helpers.append(Helper())
        helpers = self._helpers[: len(jobs) - 1]
        for helper, job in zip(helpers, jobs[1:], strict=True):
            helper.start(job.instance, job.routes, end, job.seed)
        self.search_here(jobs[0], end, None, lambda routes: offer(0, routes))
        for number, helper in enumerate(helpers, start=1):
            if (routes := helper.result()) is not None:
                offer(number, routes)
