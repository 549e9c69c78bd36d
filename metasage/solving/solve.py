"""Solve an instance: the function behind ``metasage.solve`` and ``metasage solve``."""

from __future__ import annotations

import logging
import threading as threads_of_python
import time
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from metasage.adaptation.method import Method
from metasage.adaptation.registry import MethodName, make_method
from metasage.adaptation.sage import Preset
from metasage.errors import InputError, NetworkLeftOut
from metasage.improve import make_improver
from metasage.numbers import (
    kind_of,
    require_finite,
    require_seed,
    require_threads,
    require_time_limit,
)
from metasage.problems import (
    Instance,
    Solution,
    require_feasible,
    require_instance,
    require_solution,
)
from metasage.runtime import resources
from metasage.runtime.interrupts import interruptible
from metasage.runtime.resources import available_cores, load
from metasage.solving.callbacks import Callbacks
from metasage.solving.choice import NetworkOptions, Parts, choose_parts
from metasage.solving.clock import Clock, require_time_to_answer
from metasage.solving.local import construct, search_locally
from metasage.solving.names import EngineName, Improve
from metasage.solving.record import CONSTRUCTION, INITIAL, Record
from metasage.solving.result import Result
from metasage.stop import Criterion, FirstOf, MaxRuntime, StoppingCriterion, as_criterion

if TYPE_CHECKING:
    from metasage.policies.model import Model
    from metasage.policies.sml import Sml

_log = logging.getLogger("metasage")


def solve(
    instance: Instance,
    method: Method | MethodName | str | None = None,
    stop: StoppingCriterion | threads_of_python.Event | None = None,
    *,
    time_limit: float | None = None,
    preset: Preset = "default",
    iterations: int | None = None,
    rollouts: int | None = None,
    augment: int | None = None,
    neighbours: int | None = None,
    settings: Mapping[str, Any] | None = None,
    model: Model | str | None = None,
    sml: Sml | str = "auto",
    improve: Improve | None = None,
    initial_solution: Solution | None = None,
    seed: int = 1234,
    threads: int = 0,
    engine: EngineName = "auto",
    device: str = "cpu",
    max_memory: float | None = None,
    callbacks: Callbacks | None = None,
    started: float | None = None,
) -> Result:
    """Solve an instance.

    Under a time limit local search works alone, unless something is said about the
    network; without one the method is SAGE, and local search follows.

    Parameters
    ----------
    instance
        The instance.
    method
        The network's method: settings such as `Sage`, a name such as ``"sage"``, or
        ``"module:Class"``.
    stop
        When to end, beside the time limit: a criterion, any function of iteration and
        objective, or an event that another thread sets.
    time_limit
        Seconds for everything, from the start on.
    preset, iterations, rollouts, augment, neighbours, settings
        Settings of a method that is given by name: SAGE's reading, the settings that all
        methods have (see `Method`), and others by name.
    model
        The network: a model, the name of a shipped one, or a file.
    sml
        The scale meta-learner, or how to find it: ``auto`` is the network's own for
        SAGE on instances larger than those of its training, else none; ``shipped`` its
        own for any method and size; ``none``; a name; or a file.
    improve
        Local search: ``none``; ``final``, after the network; or ``memetic``, which also
        makes the best rollouts of each iteration better, so that the network learns
        from them. By default ``final``, where there is a local search.
    initial_solution
        A feasible solution; the result is never worse.
    seed
        Same seed and number of iterations, same result, whatever the threads.
    threads
        Number of threads; 0 for all cores.
    engine, device
        What constructs rollouts, and where.
    max_memory
        Bytes that rollouts may take; half of what is free by default.
    callbacks
        Who is told of the progress.
    started
        Time of `time.monotonic` from which seconds count; now by default.

    Raises
    ------
    InfeasibleError
        If the instance has no feasible solution.
    InputError
        If an argument is not what it should be, or does not fit the instance.
    """
    started = time.monotonic() if started is None else started
    started = require_finite("started", started)
    require_instance(instance)
    seed = require_seed(seed)
    threads = require_threads(threads)
    chosen = _as_method(
        method, preset, settings,
        iterations=iterations, rollouts=rollouts, augment=augment, neighbours=neighbours,
    )  # fmt: skip
    criterion = _criterion(stop, time_limit)
    options = NetworkOptions(model, sml, engine, device, max_memory)
    parts = choose_parts(instance, chosen, options, improve, criterion.seconds)
    require_feasible(instance)
    require_time_to_answer(instance, criterion.seconds, started)
    record = Record(instance, criterion, callbacks, started)
    if initial_solution is not None:
        _offer_initial(record, initial_solution)
    if parts.notice is not None:
        warnings.warn(f"{parts.notice}.", NetworkLeftOut, stacklevel=2)
    record.callbacks.on_start(instance)
    _log.info("%r: %s", instance, parts)
    with interruptible() as record.interrupted:
        about = _search(record, parts, chosen, options, seed, threads)
        result = Result.of(record, about | {"improve": parts.improve, "seed": seed})
        _log.info("%r: objective %s after %.2f s", instance, result.objective, result.seconds)
        record.callbacks.on_end(result)
    return result


def _search(
    record: Record,
    parts: Parts,
    method: Method | None,
    options: NetworkOptions,
    seed: int,
    threads: int,
) -> dict[str, Any]:
    """Let the parts work one after another, and return what they were."""
    instance = record.instance
    improver = None
    if parts.improve != "none":
        improver = make_improver(instance, threads or None)
    about = _without_network(parts, threads)
    clock = Clock(record.started, record.stop.seconds, instance.num_nodes, improver is not None)
    if parts.network and instance.size > 0:
        if load("metasage.solving.network", clock.loading, record.is_over):
            from metasage.solving.network import Network, search_with_network

            network = Network.of(instance, method or make_method("sage"), options, threads)
            about = search_with_network(
                network, record, clock, seed, improver, is_memetic=parts.improve == "memetic"
            )
        elif not record.is_over():
            sentence = "torch was not loaded in time, so the network is left out."
            warnings.warn(sentence, NetworkLeftOut, stacklevel=3)
    if improver is not None:
        search_locally(improver, record, clock.end, seed)
    if record.best is None:
        record.begin(CONSTRUCTION)
        record.end(record.offer(construct(instance, threads or None)).objective)
    return about


def _as_method(
    method: Method | str | None,
    preset: str,
    settings: Mapping[str, Any] | None,
    **common: int | None,
) -> Method | None:
    """Return the method that was asked for; None if nothing was said about any."""
    if settings is not None and not isinstance(settings, Mapping):
        raise InputError(f"settings are values by name, and this is {kind_of(settings)}.")
    said = [name for name, value in common.items() if value is not None]
    said += ["settings"] * bool(settings) + ["preset"] * bool(preset != "default")
    if isinstance(method, Method):
        if said:
            raise InputError(f"{said[0]} is given beside a method, whose setting it is.")
        return method
    if method is not None and not isinstance(method, str):
        raise InputError(
            "a method is settings such as metasage.Sage() or a name, and this is "
            f"{kind_of(method)}."
        )
    if method is None and not said:
        return None
    return make_method(method or "sage", preset=preset, settings=settings, **common)


def _criterion(
    stop: StoppingCriterion | threads_of_python.Event | None, time_limit: float | None
) -> Criterion:
    criterion = as_criterion(stop)
    if time_limit is None:
        return criterion
    limit = MaxRuntime(require_time_limit(time_limit))
    return limit if stop is None else FirstOf(limit, criterion)


def _offer_initial(record: Record, solution: Solution) -> None:
    require_solution(solution)
    record.begin(INITIAL)
    if (violation := record.offer(solution).violation) is not None:
        raise InputError(f"the initial solution is not feasible: {violation}")


def _without_network(parts: Parts, threads: int) -> dict[str, Any]:
    """Return what makes a result where no network is at work."""
    return {
        "method": "construction" if parts.improve == "none" else "local-search",
        "parameters": {},
        "preset": "default",
        "model": "none",
        "sml": "none",
        "sml_reading": None,
        "engine": "native" if resources.is_built() else "none",
        "threads": threads or available_cores(),
    }
