"""Limits of a CVRP: what a vehicle carries, how many there are, how long a route may be.

Demands become whole numbers, so that loads add up exactly.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from metasage.problems.base import TOLERANCE
from metasage.problems.metric import Floats, Indices

if TYPE_CHECKING:
    from metasage.problems.cvrp import Cvrp

# Largest capacity of rollouts: load and demand add up below 2**24, where float32 is exact.
MOST_IN_FLOAT32 = 2**23

MOST_IN_INTEGERS = 2**40
"""Largest capacity for searches that count in 64-bit integers."""

# Fractions of the capacity are recognised up to this denominator.
_LARGEST_DENOMINATOR = 10_000

# Relative error of numbers that went through float32, and of those that did not.
_SINGLE, _DOUBLE = 1e-7, 1e-12


def exact_units(
    demand: Floats, capacity: float, most: int = MOST_IN_FLOAT32
) -> tuple[Indices, int]:
    """Express demands and capacity in whole units.

    Whole and decimal numbers, and fractions of the capacity with a common
    denominator, come out exactly. What does not, or would be too large, is measured
    in fine units, demands rounded up: a vehicle is then never overloaded.

    Parameters
    ----------
    demand, capacity
        As in the instance.
    most
        Largest capacity in units.
    """
    for units, room in _candidates(demand, capacity):
        common = int(np.gcd.reduce(units, initial=room))
        if room // common <= most:
            return units // common, room // common
    units = np.ceil(demand * (MOST_IN_FLOAT32 / capacity) - 1e-6).astype(np.int64)
    return units, MOST_IN_FLOAT32


def load_limit(demand: Floats, capacity: float) -> float:
    """Return what a vehicle may carry, with slack for how the demands were rounded."""
    return capacity * (1 + (10 * _SINGLE if _is_single(demand) else TOLERANCE))


def find_excess(instance: Cvrp, walk: Indices, steps: Floats) -> str | None:
    """Name a limit that routes exceed.

    Parameters
    ----------
    instance
        The instance.
    walk
        All routes one after another, with the depot before, between and behind them.
    steps
        Length of each step of the walk.
    """
    starts = np.flatnonzero(walk[:-1] == 0)
    longest = instance.max_route_length
    if longest is not None:
        takes = np.add.reduceat(steps + _service(instance)[walk[1:]], starts)
        too_long = takes > longest * (1 + TOLERANCE)
        if too_long.any():
            number = int(np.argmax(too_long))
            return f"route {number + 1} takes {takes[number]:.10g} of {longest:.10g}."
    used = int((walk[starts + 1] != 0).sum())
    if instance.vehicles is not None and used > instance.vehicles:
        noun = "vehicle" if instance.vehicles == 1 else "vehicles"
        return f"there are {used} routes with customers and {instance.vehicles} {noun}."
    return None


def least_vehicles(instance: Cvrp) -> int:
    """Return how many vehicles the demands fill, of which no solution has fewer."""
    # As much slack again as the checker has, since sums are not exact either.
    room = load_limit(instance.demand, instance.capacity) * (1 + TOLERANCE)
    return math.ceil(float(instance.demand[1:].sum()) / room)


def find_out_of_reach(instance: Cvrp) -> str | None:
    """Name a customer that no route has the length for, where that is certain."""
    longest = instance.max_route_length
    if longest is None:
        return None
    nodes, depot = np.arange(instance.num_nodes), np.zeros(instance.num_nodes, dtype=np.int64)
    visits = instance.lengths(depot, nodes) + instance.lengths(nodes, depot) + _service(instance)
    most = longest * (1 + 2 * TOLERANCE)
    if (visits > most).any() and not instance.metric.has_no_shortcuts:
        visits = _least_ways(instance, home=False) + _least_ways(instance, home=True)
    worst = int(np.argmax(visits))
    if visits[worst] <= most:
        return None
    return (
        f"customer {instance.labels[worst]} takes a route of at least {visits[worst]:.10g}, "
        f"and {longest:.10g} is the most."
    )


def _service(instance: Cvrp) -> Floats:
    if instance.service_time is None:
        return np.zeros(instance.num_nodes)
    return instance.service_time


def _least_ways(instance: Cvrp, home: bool) -> Floats:
    """Return the least that the way from the depot to each node takes, or that home.

    This is Dijkstra's algorithm. Service counts at the end of each step, so that both
    ways together count a node's own service once.
    """
    nodes, service = np.arange(instance.num_nodes), _service(instance)
    ways = np.full(instance.num_nodes, np.inf)
    ways[0] = 0.0
    is_open = np.ones(instance.num_nodes, dtype=bool)
    for _ in nodes:
        nearest = int(np.argmin(np.where(is_open, ways, np.inf)))
        is_open[nearest] = False
        here = np.full_like(nodes, nearest)
        if home:
            steps = instance.lengths(nodes, here) + service[nearest]
        else:
            steps = instance.lengths(here, nodes) + service
        ways = np.minimum(ways, ways[nearest] + steps)
    return ways


def _candidates(demand: Floats, capacity: float) -> list[tuple[Indices, int]]:
    """Return demands and capacity in units that are exact, the plainest first."""
    found = []
    for factor in (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000):
        scaled = np.append(demand, capacity) * factor
        units = np.rint(scaled)
        if units.max() < 2**53 and np.allclose(scaled, units, rtol=_DOUBLE, atol=1e-9):
            found.append((units[:-1].astype(np.int64), int(units[-1])))
            break
    share = demand / capacity
    denominator = _common_denominator(share)
    if denominator is not None:
        units = np.rint(share * denominator)
        error = np.abs(share - units / denominator)
        if (error <= (_SINGLE if _is_single(demand) else _DOUBLE) * share).all():
            found.append((units.astype(np.int64), denominator))
    return found


def _common_denominator(shares: Floats) -> int | None:
    """Return the least denominator of all, if there is one that is not too large."""
    common = 1
    for share in np.unique(shares):
        fraction = Fraction(float(share)).limit_denominator(_LARGEST_DENOMINATOR)
        common = math.lcm(common, fraction.denominator)
        if common > MOST_IN_FLOAT32:
            return None
    return common


def _is_single(demand: Floats) -> bool:
    """Whether demands are fractions that went through float32."""
    whole = bool((demand == np.rint(demand)).all())
    return not whole and bool((demand == demand.astype(np.float32)).all())
