"""When each part of a search ends: the network's, and all of it."""

from __future__ import annotations

from dataclasses import dataclass

from metasage.adaptation.local_search import reserve
from metasage.adaptation.method import Method
from metasage.adaptation.stop import (
    FirstOf,
    MaxIterations,
    MaxRuntime,
    StoppingCriterion,
    Target,
    deadline_of,
    planned_by,
    targets_of,
)
from metasage.problems import Instance

# Share of a time limit that the network has before local search finishes.
_NETWORK_SHARE = 0.25

# Kept back for an answer without the network, in case it finds none: for each node.
_SECONDS_WITHOUT = 3e-5


@dataclass(frozen=True)
class Plan:
    """When each part of a search ends.

    Parameters
    ----------
    stop
        When the network's iterations end.
    horizon
        Iterations over which schedules run; None lets them follow the clock.
    deadline
        Time of `time.monotonic` at which the network's part ends; None if it takes no limit.
    end
        Time of `time.monotonic` at which local search ends; None if it takes no limit.
    targets
        Objectives that are good enough.
    """

    stop: StoppingCriterion
    horizon: int | None
    deadline: float | None
    end: float | None
    targets: list[Target]


def make_plan(
    instance: Instance, method: Method, stop: StoppingCriterion | None, *, improves: bool
) -> Plan:
    """Divide what the user allows among the parts of a search.

    Parameters
    ----------
    instance
        The instance.
    method
        Settings of the method.
    stop
        When the user wants all of it to end.
    improves
        Whether local search comes after the network.
    """
    targets = targets_of(stop)
    whole = limit = deadline_of(stop)
    if improves and whole is not None and stop is not None:
        limit = MaxRuntime(whole.seconds * _NETWORK_SHARE)
        limit.started = whole.started
        stop = FirstOf(stop, limit)
    horizon = planned_by(stop) if method.iterations is None else method.iterations
    if horizon is None and (whole is None or not method.repeats):
        horizon = method.default_iterations(instance.problem.name)
    if horizon is not None:
        planned = MaxIterations(horizon)
        stop = planned if stop is None else FirstOf(planned, stop)
    assert stop is not None
    deadline = None if limit is None else limit.deadline - reserve(limit.seconds)
    if deadline is not None and not improves:
        deadline -= _SECONDS_WITHOUT * instance.num_nodes
    end = None if whole is None else whole.deadline - reserve(whole.seconds)
    return Plan(stop, horizon, deadline, end, targets)
