"""Solve the instances of a set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from typing import Any

from torch import get_num_threads

from metasage import __version__
from metasage.adaptation.method import Method
from metasage.adaptation.resources import free_memory
from metasage.adaptation.result import Result
from metasage.adaptation.solve import solve
from metasage.adaptation.stop import MaxRuntime
from metasage.errors import InfeasibleError
from metasage.policies.library import default_model, find_model
from metasage.problems import Instance, get_problem, require_feasible
from metasage.problems.sets import InstanceSet

Listener = Callable[[int, float, float], None]


@dataclass(frozen=True)
class Evaluation:
    """Results of the instances of a set, in its order.

    Parameters
    ----------
    problem, size
        Name of the problem and size of the instances.
    objectives, seconds
        Objective of each instance, by the checker, and its time.
    settings
        What made them; a parameter that differs between instances is a list.
    interrupted
        Whether instances are missing because the user wanted it to end.
    failure
        Why instances are missing otherwise; empty if none are.
    """

    problem: str
    size: int
    objectives: list[float]
    seconds: list[float]
    settings: dict[str, Any]
    interrupted: bool
    failure: str = ""

    @property
    def mean(self) -> float | None:
        """Mean objective, if any instance was solved."""
        return sum(self.objectives) / len(self.objectives) if self.objectives else None

    def gap(self, references: list[float]) -> float | None:
        """Relative distance of the mean to the references' mean; positive is worse."""
        if self.mean is None:
            return None
        best = sum(references[: len(self.objectives)]) / len(self.objectives)
        sign = 1 if get_problem(self.problem).sense == "min" else -1
        return sign * (self.mean - best) / best

    def to_dict(self) -> dict[str, Any]:
        """Return the plain data of ``metasage evaluate --json``."""
        return {
            "problem": self.problem,
            "n": self.size,
            **self.settings,
            "objectives": self.objectives,
            "mean": self.mean,
            "seconds": self.seconds,
            "version": __version__,
        }


def evaluate(
    instances: InstanceSet,
    method: Method,
    *,
    limit: int | None = None,
    jobs: int = 1,
    time_limit: float | None = None,
    model: str | None = None,
    listener: Listener | None = None,
    **options: Any,
) -> Evaluation:
    """Solve the instances of a set, one after another or in several processes.

    Parameters
    ----------
    instances
        The set.
    method
        Settings of the method.
    limit
        Number of instances, from the first.
    jobs
        Number of processes.
    time_limit
        Seconds for each instance.
    model
        The network, by name or file.
    listener
        Called with index, objective and seconds of each instance.
    options
        Further options of `solve`, the same for all instances.
    """
    count = len(instances) if limit is None else min(limit, len(instances))
    name = default_model(instances.problem.name) if model is None else model
    network = find_model(name, instances.problem.name)
    options = _shared(options, jobs) | {"model": network}
    chosen = [instances[index] for index in range(count)]
    _require_all_feasible(instances.name, chosen)
    work = [_Work(instance, method, time_limit, options) for instance in chosen]
    objectives: list[float] = []
    seconds: list[float] = []
    settings: list[dict[str, Any]] = []
    interrupted, failure = False, ""
    with _solver(jobs) as results:
        try:
            for index, result in enumerate(results(work)):
                if result.interrupted:
                    interrupted = True
                    break
                objectives.append(result.objective)
                seconds.append(result.seconds)
                settings.append(result.settings)
                if listener is not None:
                    listener(index, result.objective, result.seconds)
        except KeyboardInterrupt:
            interrupted = True
        except BrokenProcessPool:
            failure = (
                f"a process died after {len(objectives)} of {count} instances, most likely for "
                "want of memory: try fewer --jobs."
            )
    return Evaluation(
        instances.problem.name,
        instances.size,
        objectives,
        seconds,
        _common(settings),
        interrupted,
        failure,
    )


def _require_all_feasible(name: str, instances: list[Instance]) -> None:
    """Complain before hours are spent on the others."""
    for index, instance in enumerate(instances):
        try:
            require_feasible(instance)
        except InfeasibleError as error:
            raise InfeasibleError(f"{name}#{index}: {error}") from None


def _shared(options: dict[str, Any], jobs: int) -> dict[str, Any]:
    """Divide threads and memory among the processes."""
    if jobs == 1:
        return options
    memory = options.get("max_memory") or free_memory() / 2
    threads = options.get("threads") or max(1, get_num_threads() // jobs)
    return options | {"threads": threads, "max_memory": memory / jobs}


def _common(settings: list[dict[str, Any]]) -> dict[str, Any]:
    """Join the settings of instances, which differ at most in what a method chose itself."""
    if not settings:
        return {}
    parameters = {}
    for name, value in settings[0]["parameters"].items():
        values = [each["parameters"][name] for each in settings]
        parameters[name] = value if all(v == value for v in values) else values
    return settings[0] | {"parameters": parameters}


@dataclass(frozen=True)
class _Work:
    instance: Instance
    method: Method
    time_limit: float | None
    options: dict[str, Any]


def _solve_one(work: _Work) -> Result:
    stop = None if work.time_limit is None else MaxRuntime(work.time_limit)
    return solve(work.instance, work.method, stop, **work.options)


@contextmanager
def _solver(jobs: int) -> Iterator[Callable[[list[_Work]], Iterator[Result]]]:
    if jobs == 1:
        yield lambda work: map(_solve_one, work)
        return
    # Forked processes would share torch's and OpenMP's thread pools, and hang.
    others = set(active_children())
    pool = ProcessPoolExecutor(jobs, get_context("spawn"))
    try:
        yield lambda work: pool.map(_solve_one, work)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(active_children()) - others:
            process.terminate()  # whatever it is at
            process.join()
