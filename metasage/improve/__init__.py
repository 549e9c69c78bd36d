"""Local search that makes given solutions better; it needs no network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from metasage.errors import InputError
from metasage.improve.improver import Improver, Listener
from metasage.problems import Instance, Solution
from metasage.runtime import resources
from metasage.runtime.forks import require_threads_here
from metasage.runtime.interrupts import ENDLESS, Patience
from metasage.runtime.resources import available_cores

__all__ = [
    "Improver",
    "Listener",
    "improve",
    "improve_all",
    "make_improver",
    "why_no_search",
]


PROBLEMS = ("tsp", "cvrp", "pctsp", "op")
"""Names of the problems that are searched at any size."""


def why_no_search(instance: Instance) -> str | None:
    """Say, as a sentence without its point, why there is no local search of an instance."""
    from metasage.improve.tiny import MOST_NODES

    if instance.size <= MOST_NODES:
        return None
    if instance.problem.name not in PROBLEMS:
        return f"there is no local search for {instance.problem.name}"
    if not resources.is_built():
        return "the local search was not built, for want of a C++ compiler"
    return None


def make_improver(instance: Instance, threads: int | None = None) -> Improver:
    """Prepare the local search of an instance.

    Parameters
    ----------
    instance
        An instance of any problem.
    threads
        Cores to use; None for all.

    Raises
    ------
    InputError
        If there is none.
    """
    from metasage.improve.tiny import MOST_NODES, TinyImprover

    if (reason := why_no_search(instance)) is not None:
        raise InputError(f"{reason}.")
    if instance.size <= MOST_NODES:
        return TinyImprover(instance, threads)
    return native_improver(instance, threads)


def native_improver(instance: Instance, threads: int | None = None) -> Improver:
    """Prepare the search in C++, however few nodes there are; see `make_improver`."""
    require_threads_here()
    if instance.problem.single_tour and not instance.is_directed:
        from metasage.improve.tour.improver import SingleTourImprover

        return SingleTourImprover(instance, threads)
    from metasage.improve.routes.improver import RoutesImprover

    return RoutesImprover(instance, threads)


def improve(
    instance: Instance,
    solutions: Sequence[Solution] = (),
    *,
    seconds: float | None = None,
    kicks: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    patience: Patience = ENDLESS,
    listener: Listener | None = None,
) -> Solution:
    """Improve the best of some solutions, or one made without them.

    The parameters are those of `make_improver` and `Improver.improve`.
    """
    return make_improver(instance, threads).improve(
        solutions, seconds=seconds, kicks=kicks, seed=seed, patience=patience, listener=listener
    )


def improve_all(
    instances: Iterable[Instance],
    *,
    kicks: int,
    seeds: Iterable[int],
    threads: int | None = None,
) -> Iterator[Solution]:
    """Solve many small instances, each on one thread; results depend on the seeds alone.

    Solutions come one by one, in the order of the instances.

    Parameters
    ----------
    instances
        Instances of any problem.
    kicks
        Number of kicks or iterations for each.
    seeds
        A seed for each.
    threads
        Cores to use; None for all.
    """

    def solve(instance: Instance, seed: int) -> Solution:
        return make_improver(instance, threads=1).improve(kicks=kicks, seed=seed)

    cores = available_cores() if threads is None else threads
    if cores == 1:
        yield from map(solve, instances, seeds)
        return
    with ThreadPoolExecutor(cores) as pool:
        yield from pool.map(solve, instances, seeds)
