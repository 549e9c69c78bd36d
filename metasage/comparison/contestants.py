"""Who takes part in a comparison: our own methods and the installed baselines."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from metasage.adaptation.registry import make_method
from metasage.baselines import Baseline, all_baselines, get_baseline
from metasage.baselines.base import BaselineError, Listener, Outcome
from metasage.comparison.contests import Contestant
from metasage.errors import InputError
from metasage.problems import Instance, Solution
from metasage.runtime.processes import start
from metasage.solving.callbacks import Callbacks
from metasage.solving.names import IMPROVE
from metasage.solving.record import NETWORK

if TYPE_CHECKING:
    from metasage.policies.model import Model

OWN = ("sage", "sage+final", "sage+memetic", "local-search")
"""The network alone, with local search in two ways, and local search without it."""

LOCAL_SEARCH = "local-search"
"""Our local search without a network: the control of those with one."""


@cache
def seconds_to_load(module: str) -> float:
    """Measure, once, how long a new process takes to load a module of this package."""
    began = time.monotonic()
    start(module, stdin=subprocess.DEVNULL, stdout=None, stderr=subprocess.DEVNULL).wait()
    return time.monotonic() - began


@dataclass(frozen=True)
class OwnMethod:
    """A method of this package as a contestant.

    Parameters
    ----------
    name
        Name of the method; with ``+final`` or ``+memetic`` local search joins it,
        and ``local-search`` is that alone.
    model
        Network; the shipped one of the problem by default.
    threads
        Number of threads, 0 for all cores.
    """

    name: str
    model: Model | None = None
    threads: int = 0

    def takes_part(self, instance: Instance) -> bool:
        """Whether there is nothing about an instance that is beyond the network."""
        return self.name == LOCAL_SEARCH or instance.problem.why_no_network(instance) is None

    def solve(
        self, instance: Instance, seconds: float, seed: int, listener: Listener | None = None
    ) -> Outcome:
        """Solve an instance.

        Raises
        ------
        BaselineError
            If it found no feasible solution in time.
        KeyboardInterrupt
            If the user interrupts; the comparison ends then.
        """
        from metasage.solving.solve import solve

        # Who solves one file waits for torch first.
        alone = self.name == LOCAL_SEARCH
        loading = seconds_to_load("metasage.solving.solve" if alone else "metasage.solving.network")
        started = time.monotonic() - min(seconds, loading)
        name, _, improve = self.name.partition("+")
        network: dict[str, Any] = {"method": name, "model": self.model}
        result = solve(
            instance,
            improve="final" if alone else improve or "none",  # type: ignore[arg-type]
            time_limit=seconds,
            seed=seed,
            threads=self.threads,
            callbacks=_Teller(listener, started),
            started=started,
            **({} if alone else network),
        )
        if result.interrupted:
            raise KeyboardInterrupt
        if result.check.violation is not None:
            raise BaselineError(f"{self.name} found no feasible solution: {result.check.violation}")
        curve = tuple((second, objective) for second, _, objective in result.curve)
        parts = {stage for stage, _, _ in result.stages}
        left_out = not alone and NETWORK not in parts
        note = "no time for the network" if left_out else ""
        return Outcome(result.best, result.objective, result.seconds, curve, note)


class _Teller(Callbacks):
    """Passes improvements on to a listener."""

    def __init__(self, listener: Listener | None, started: float) -> None:
        self.listener, self.started = listener, started

    def on_best(self, solution: Solution, objective: float, iteration: int) -> None:
        if self.listener is not None:
            self.listener(time.monotonic() - self.started, objective)


def choose_contestants(
    instances: Sequence[Instance],
    methods: Sequence[str] | None = None,
    baselines: Sequence[str] | None = None,
    model: Model | str | None = None,
    threads: int = 0,
    names: Sequence[str] | None = None,
) -> list[Contestant]:
    """Return who takes part; whoever is asked for by name must be there.

    Parameters
    ----------
    instances
        What is to be solved.
    methods
        Names of our methods, as `OWN` has them, which is the default.
    baselines
        Names of baselines; all that are installed by default.
    model, threads
        Network and threads of our methods.
    names
        What errors call the instances.
    """
    if methods is not None or model is not None:
        _require_networks(instances, methods or OWN, names)
    chosen = OWN if methods is None else methods
    for name in chosen:
        method, _, improve = name.partition("+")
        if name != LOCAL_SEARCH:
            make_method(method)
        if improve and improve not in IMPROVE:
            raise InputError(f"improve '{improve}' is not one of {', '.join(IMPROVE)}.")
    if isinstance(model, str):
        from metasage.policies.library import find_model

        model = find_model(model, instances[0].problem.name)
    own: list[Contestant] = [OwnMethod(name, model, threads) for name in chosen]
    return [*own, *_chosen_baselines(instances, baselines)]


def _require_networks(
    instances: Sequence[Instance], methods: Sequence[str], names: Sequence[str] | None
) -> None:
    """Complain about instances that are beyond the networks that were asked for."""
    if set(methods) <= {LOCAL_SEARCH}:
        return
    labels = names or [instance.name for instance in instances]
    for instance, label in zip(instances, labels, strict=True):
        if (reason := instance.problem.why_no_network(instance)) is not None:
            raise InputError(f"{reason}.", label or None)


def _chosen_baselines(instances: Sequence[Instance], names: Sequence[str] | None) -> list[Baseline]:
    problems = {instance.problem.name for instance in instances}
    if names is None:
        return [
            baseline
            for baseline in all_baselines().values()
            if baseline.is_available() and problems & set(baseline.problems)
        ]
    chosen = [get_baseline(name) for name in names]
    for baseline in chosen:
        if not baseline.is_available():
            raise InputError(f"{baseline.name} is not installed: {baseline.hint}.")
        if not problems & set(baseline.problems):
            raise InputError(f"{baseline.name} does not solve {', '.join(sorted(problems))}.")
    return chosen
