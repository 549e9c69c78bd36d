"""Solve many instances: the function behind ``metasage.evaluate``."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import wait
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from metasage import __version__
from metasage.adaptation.greedy import Greedy
from metasage.adaptation.method import Method
from metasage.adaptation.registry import MethodName
from metasage.errors import InfeasibleError, InputError
from metasage.numbers import require_count
from metasage.problems import Instance, Solution, require_feasible
from metasage.runtime.interrupts import interruptible
from metasage.runtime.resources import available_cores, free_memory
from metasage.runtime.timing import WHILE_WAITING
from metasage.runtime.workers import WorkerDied, Workers
from metasage.solving.result import Result
from metasage.solving.solve import solve

Listener = Callable[[int, Result], None]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Results of several instances, in their order.

    Parameters
    ----------
    results
        What was found for each.
    interrupted
        Whether instances are missing because the user wanted it to end.
    failure
        Why instances are missing otherwise; empty if none are.
    """

    results: Sequence[Result]
    interrupted: bool = False
    failure: str = ""

    @property
    def objectives(self) -> list[float]:
        """Objective of each instance, by the checker."""
        return [result.objective for result in self.results]

    @property
    def solutions(self) -> list[Solution]:
        """The best solution of each instance."""
        return [result.best for result in self.results]

    @property
    def seconds(self) -> list[float]:
        """Time that each instance took."""
        return [result.seconds for result in self.results]

    @property
    def mean(self) -> float | None:
        """Mean objective, if any instance was solved."""
        return sum(self.objectives) / len(self.results) if self.results else None

    @property
    def settings(self) -> dict[str, Any]:
        """What made the results; a parameter that differs between instances is a list."""
        if not self.results:
            return {}
        first, *others = (result.settings for result in self.results)
        joined = {}
        for name, value in first["parameters"].items():
            values = [value, *(other["parameters"].get(name) for other in others)]
            joined[name] = value if all(v == value for v in values) else values
        return first | {"parameters": joined}

    def gap(self, references: Sequence[float]) -> float | None:
        """Relative distance of the mean to the references' mean; positive is worse."""
        if self.mean is None:
            return None
        best = sum(references[: len(self.results)]) / len(self.results)
        return self.results[0].instance.problem.gap(self.mean, best)

    def to_dict(self) -> dict[str, Any]:
        """Return the plain data of ``metasage evaluate --json``."""
        instances = [result.instance for result in self.results]
        sizes = [instance.size for instance in instances]
        return {
            "problem": _one_or_all([instance.problem.name for instance in instances]),
            "n": _one_or_all(sizes),
            **self.settings,
            "objectives": self.objectives,
            "mean": self.mean,
            "seconds": self.seconds,
            "routes": [r.best.labelled(r.instance) for r in self.results],
            "version": __version__,
        }


def evaluate(
    instances: Instance | Iterable[Instance],
    method: Method | MethodName | str | None = None,
    *,
    limit: int | None = None,
    offset: int = 0,
    jobs: int = 1,
    time_limit: float | None = None,
    improve: str = "none",
    listener: Listener | None = None,
    **options: Any,
) -> Evaluation:
    """Solve several instances, one after another or in several processes.

    Parameters
    ----------
    instances
        A set, a list, or one instance.
    method
        Settings of the method or its name; greedy construction by default.
    limit, offset
        Number of instances, and how many are left out before.
    jobs
        Number of processes.
    time_limit
        Seconds for each instance.
    improve
        Local search after the network, as for `solve`; none by default.
    listener
        Called with number and result of each instance.
    options
        Further options of `solve`, the same for all instances.
    """
    chosen = _chosen(instances, offset, limit)
    require_count("jobs", jobs)
    common: dict[str, Any] = {
        "method": _default(method, options),
        "time_limit": time_limit,
        "improve": improve,
    }
    common |= _divided(options, jobs)
    common["model"] = _loaded(common.get("model"), chosen)
    results: list[Result] = []
    failure, ended = "", False
    with (
        interruptible() as interrupted,
        closing(_results(chosen, partial(solve, **common), jobs, interrupted)) as found,
    ):
        try:
            for result in found:
                if result.interrupted:
                    ended = True
                    break
                results.append(result)
                if listener is not None:
                    listener(offset + len(results) - 1, result)
                if interrupted() and len(results) < len(chosen):
                    ended = True
                    break
        except KeyboardInterrupt:
            ended = True
        except WorkerDied:
            failure = (
                f"a process died after {len(results)} of {len(chosen)} instances, most likely "
                "for want of memory: try fewer --jobs."
            )
    return Evaluation(results, ended, failure)


def _chosen(
    instances: Instance | Iterable[Instance], offset: int, limit: int | None
) -> list[Instance]:
    """Return those that are wanted, and complain before hours are spent on some of them."""
    if isinstance(instances, Instance):
        instances = [instances]
    try:
        found = list(instances)
    except TypeError:
        raise InputError(f"instances were expected, and not {instances!r}.") from None
    if not all(isinstance(instance, Instance) for instance in found):
        raise InputError("a list of instances was expected, and it holds something else.")
    require_count("offset", offset, least=0)
    if limit is not None:
        require_count("limit", limit)
    chosen = found[offset:] if limit is None else found[offset : offset + limit]
    if not chosen:
        raise InputError(f"there are {len(found)} instances, and none of them was chosen.")
    for index, instance in enumerate(chosen, offset):
        try:
            require_feasible(instance)
        except InfeasibleError as error:
            name = instance.title if instance.name else f"#{index}"
            raise InfeasibleError(f"{name}: {error}") from None
    return chosen


def _default(method: Method | str | None, options: Mapping[str, Any]) -> Method | str | None:
    """Return the method; a name where its settings are given apart."""
    if method is not None:
        return method
    apart = ("iterations", "rollouts", "augment", "neighbours", "settings")
    is_apart = options.get("preset", "default") != "default"
    is_apart |= any(options.get(name) is not None for name in apart)
    return "greedy" if is_apart else Greedy()


def _loaded(model: Any, instances: list[Instance]) -> Any:
    """Load the network once, where one serves all instances."""
    from metasage.policies.library import default_model, find_model

    problems = {instance.problem.name for instance in instances}
    if not (model is None or isinstance(model, str)) or len(problems) > 1:
        return model
    (problem,) = problems
    return find_model(default_model(problem) if model is None else model, problem)


def _divided(options: dict[str, Any], jobs: int) -> dict[str, Any]:
    """Divide threads and memory among the processes."""
    if jobs == 1:
        return options
    memory = options.get("max_memory") or free_memory() / 2
    threads = options.get("threads") or max(1, available_cores() // jobs)
    return options | {"threads": threads, "max_memory": memory / jobs}


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if len(set(values)) == 1 else values


def _results(
    instances: list[Instance],
    search: Callable[[Instance], Result],
    jobs: int,
    interrupted: Callable[[], bool],
) -> Generator[Result, None, None]:
    """Search one instance after another, or several side by side; results keep their order."""
    if jobs == 1:
        yield from map(search, instances)
        return
    with Workers(min(jobs, len(instances)), search) as workers:
        for future in [workers.submit(instance) for instance in instances]:
            while not wait([future], WHILE_WAITING).done:
                if interrupted():
                    raise KeyboardInterrupt
            yield future.result()
