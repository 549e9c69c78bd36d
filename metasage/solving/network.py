"""The network's part of a search; torch is needed from here on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from metasage.adaptation.loop import Loop
from metasage.adaptation.method import Method, Strategy
from metasage.adaptation.resources import encoding_seconds, is_want_of_memory, require_device
from metasage.adaptation.task import Task
from metasage.errors import NetworkLeftOut, NotFinite, TooLarge
from metasage.improve import Improver
from metasage.policies.library import default_model, find_model
from metasage.policies.model import Model
from metasage.policies.sml import Sml
from metasage.policies.sml_files import find_sml
from metasage.problems import Instance
from metasage.rollout import get_engine
from metasage.rollout.interface import DeadlineReached, Engine
from metasage.runtime.interrupts import Patience
from metasage.runtime.resources import available_cores
from metasage.solving.budget import within_time
from metasage.solving.choice import NetworkOptions
from metasage.solving.clock import Clock
from metasage.solving.familiarity import warn_if_unfamiliar
from metasage.solving.record import NETWORK, Record


@dataclass(frozen=True)
class Network:
    """A network that is ready for an instance.

    Parameters
    ----------
    model, sml
        The network, and its scale meta-learner if one is used.
    method
        The method, with the settings that the network suggests.
    engine
        What constructs rollouts.
    options
        What the user said.
    """

    model: Model
    sml: Sml | None
    method: Method
    engine: Engine
    options: NetworkOptions

    @classmethod
    def of(
        cls, instance: Instance, method: Method, options: NetworkOptions, threads: int
    ) -> Network:
        """Find all that is needed, and complain about what does not fit together."""
        problem, model = instance.problem.name, options.model
        if not isinstance(model, Model):
            model = find_model(default_model(problem) if model is None else model, problem)
        model.config.require_problem(problem)
        method = method.suited(model)
        if method.neighbours is None and (near := model.near(instance.num_nodes)) is not None:
            method = replace(method, neighbours=near)
        sml = options.sml
        if isinstance(sml, str):
            is_larger = instance.size > (model.training_size or 0)
            found = find_sml(sml, model, wanted=method.uses_sml and is_larger)
        else:
            found = sml
        warn_if_unfamiliar(instance, model, found)
        require_device(options.device)
        engine = get_engine(
            options.engine, model.config, options.device, threads or available_cores()
        )
        return cls(model, found, method, engine, options)

    def about(self, problem: str) -> dict[str, Any]:
        """Return what made a result, as plain data."""
        sml = self.sml
        return {
            "method": self.method.name,
            "parameters": self.method.parameters(problem),
            "preset": getattr(self.method, "preset", "default"),
            "model": self.model.name,
            "sml": "none" if sml is None else sml.name,
            "sml_reading": None if sml is None else sml.learner.reading,
            "engine": self.engine.name,
            "threads": self.engine.threads,
        }


def search_with_network(
    network: Network,
    record: Record,
    clock: Clock,
    seed: int,
    improver: Improver | None = None,
    *,
    is_memetic: bool = False,
) -> dict[str, Any]:
    """Let a network construct solutions, and return what made them.

    Parameters
    ----------
    network
        The network.
    record
        Where solutions go.
    clock
        How much time there is.
    seed
        Seed of everything random.
    improver
        Local search that comes afterwards, if any.
    is_memetic
        Whether it makes the best rollouts of each iteration better, too.
    """
    record.begin(NETWORK)
    instance, method = record.instance, network.method
    problem = instance.problem.name
    horizon = _horizon(method, record, clock, problem)
    patience = Patience(clock.network_end(), record.is_over)
    left = patience.seconds_left
    if left is not None and method.iterations is None:
        left -= method.augment * encoding_seconds(network.model.policy, instance)
        method = within_time(method, instance, network.model.policy, left, network.engine.threads)
    polish = None
    if improver is not None and is_memetic:
        polish = partial(improver.polish, patience=patience)
    strategy: Strategy | None = None
    before, is_explained = record.best, False
    with _torch_threads(network.engine.threads):
        try:
            strategy = method.start(_task(network, method, record, patience, seed))
            Loop(record, horizon, patience.deadline, polish).run(strategy)
        except DeadlineReached:
            pass
        except TooLarge as error:
            if improver is None:
                raise
            _warn(f"{error} Local search goes on alone.")
            strategy, is_explained = None, True
        except (RuntimeError, MemoryError) as error:
            if not is_want_of_memory(error):
                raise
            _warn(f"{instance.title}: there was not enough memory for the network.")
            is_explained = True
        except NotFinite as error:  # what was found before is kept
            _warn(f"{instance.title}: {error} The network's part ends here.")
            is_explained = True
    if strategy is not None and record.best is not before and record.check is not None:
        record.end(record.check.objective)
    elif record.iteration == 0 and not is_explained and not record.is_over():
        _warn(f"{instance.title}: there was no time for the network.")
    chosen = {"iterations": horizon} | ({} if strategy is None else strategy.chosen())
    about = network.about(problem)
    return about | {"parameters": method.parameters(problem) | chosen}


def _horizon(method: Method, record: Record, clock: Clock, problem: str) -> int | None:
    """Return the planned number of iterations; None lets schedules follow the clock."""
    planned = record.stop.iterations if method.iterations is None else method.iterations
    if planned is None and (clock.end is None or not method.repeats):
        planned = method.default_iterations(problem)
    return planned


def _task(network: Network, method: Method, record: Record, patience: Patience, seed: int) -> Task:
    return Task.of(
        record.instance,
        network.model.policy,
        network.engine,
        sml=None if network.sml is None else network.sml.learner,
        rollouts=method.rollouts,
        copies=method.augment,
        neighbours=method.neighbours,
        seed=seed,
        max_memory=network.options.max_memory,
        patience=patience,
        device=network.options.device,
    )


@contextmanager
def _torch_threads(threads: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _warn(sentence: str) -> None:
    warnings.warn(sentence, NetworkLeftOut, stacklevel=4)
