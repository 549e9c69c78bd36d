"""Local search that makes given solutions better; it needs no network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from metasage import extension
from metasage.errors import InputError
from metasage.improve.improver import Improver, Listener, available_cores
from metasage.problems import Instance, Solution

__all__ = [
    "Improver",
    "Listener",
    "available_cores",
    "improve",
    "improve_all",
    "make_improver",
]


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
        If the native extension was not built.
    """
    from metasage.improve.tiny import MOST_NODES, TinyImprover

    if instance.size <= MOST_NODES:
        return TinyImprover(instance, threads)
    if not extension.is_built():
        raise InputError("the local search was not built, for want of a C++ compiler.")
    return _searching(instance, threads)


def _searching(instance: Instance, threads: int | None) -> Improver:
    """Make what searches an instance of any size."""
    if instance.problem.single_tour and not instance.is_directed:
        from metasage.improve.single_tour import SingleTourImprover

        return SingleTourImprover(instance, threads)
    from metasage.improve.routes import RoutesImprover

    return RoutesImprover(instance, threads)


def improve(
    instance: Instance,
    solutions: Sequence[Solution] = (),
    *,
    seconds: float | None = None,
    deadline: float | None = None,
    kicks: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    listener: Listener | None = None,
) -> Solution:
    """Improve the best of some solutions, or one made without them.

    The parameters are those of `make_improver` and `Improver.improve`.
    """
    return make_improver(instance, threads).improve(
        solutions, seconds=seconds, deadline=deadline, kicks=kicks, seed=seed, listener=listener
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
