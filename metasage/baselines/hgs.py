"""HGS-CVRP (Vidal 2022) through hygese.

Its lengths and loads are floating-point numbers, of which it wants the largest
neither tiny nor huge.
"""

from __future__ import annotations

import math
import time
from importlib.util import find_spec
from typing import Any

import numpy as np

from metasage.baselines.base import LIMITS, Baseline, Track
from metasage.baselines.child import DID_NOT_FINISH
from metasage.baselines.fleet import enough_vehicles
from metasage.improve.nearest import nearest_neighbour
from metasage.problems import Solution
from metasage.problems.cvrp import Cvrp
from metasage.problems.limits import exact_units
from metasage.problems.metric import Floats
from metasage.problems.scaling import length_unit

# Units of the longest edge where lengths are not whole, and the most that an edge or a
# demand may have; what has more is put into the former.
_RESOLUTION, _MOST = 10_000, 100_000

# Share of the time for a first run, and of what is then left for the second.
_FIRST_SHARE, _SECOND_SHARE = 0.05, 0.95


class Hgs(Baseline):
    """Hybrid genetic search with SWAP*, on one core.

    It hands in nothing before it is done, and counts the seconds of its process
    instead of those of the clock. So a short run comes first, which tells how many of
    the former there are to the latter, and whose solution is there in any case.
    """

    name = "hgs"
    problems = ("cvrp",)
    in_child = True
    keeps = frozenset(LIMITS)
    hint = "pip install 'metasage[baselines]'"

    def is_available(self) -> bool:
        """Whether hygese is installed."""
        return find_spec("hygese") is not None

    def search(self, instance: Any, track: Track, seed: int) -> None:
        """Run HGS twice."""
        lengths = instance.length_matrix()
        # It waits for ever for a second customer, and does not take lengths of 0 alone.
        if instance.size < 2 or not lengths.any():
            track.offer(nearest_neighbour(instance))
            return
        data = _data(instance, lengths)
        began, used = time.monotonic(), time.process_time()
        track.offer(_run(data, _FIRST_SHARE * track.limit, seed))
        pace = (time.process_time() - used) / (time.monotonic() - began)
        track.offer(_run(data, _SECOND_SHARE * track.left() * min(1.0, pace), seed))

    def finish(self, instance: Any, track: Track) -> None:
        """Say so where only the short run was done in time."""
        if track.was_ended and track.best is not None:
            track.note = f"{DID_NOT_FINISH}, this is a run of {_FIRST_SHARE:.0%} of the time"


def _run(data: dict[str, Any], seconds: float, seed: int) -> Solution:
    """Run HGS once; where it found nothing feasible, there are no routes."""
    from hygese import AlgorithmParameters, Solver  # type: ignore[import-untyped]

    parameters = AlgorithmParameters(
        # 0 would be no limit.
        timeLimit=max(0.01, seconds),
        seed=seed % 2**31,
        useSwapStar="x_coordinates" in data,  # it looks at routes whose angles overlap
    )
    return Solution(Solver(parameters, verbose=False).solve_cvrp(data).routes)


def _data(instance: Cvrp, lengths: Floats) -> dict[str, Any]:
    """Describe an instance to hygese."""
    longest = float(lengths.max())
    unit = length_unit(lengths, _RESOLUTION)
    if longest * unit > _MOST:
        unit = _RESOLUTION / longest
    demand, capacity = _loads(instance)
    # Its own number is too small where each customer fills more than half of a vehicle.
    own = math.ceil(1.3 * float(demand.sum()) / capacity) + 3
    vehicles = instance.vehicles or max(own, enough_vehicles(instance))
    data: dict[str, Any] = {
        "distance_matrix": lengths * unit,
        "demands": demand,
        "vehicle_capacity": capacity,
        "num_vehicles": min(vehicles, instance.size),
    }
    if instance.coords is not None:
        x, y = (instance.coords - instance.coords.min(axis=0)).T
        data |= {"x_coordinates": x, "y_coordinates": y}
    if instance.max_route_length is not None:
        data["duration_limit"] = instance.max_route_length * unit
        if instance.service_time is not None:
            data["service_times"] = instance.service_time * unit
    return data


def _loads(instance: Cvrp) -> tuple[Floats, float]:
    """Return demands and capacity; where nothing is demanded, customers are counted."""
    demand, capacity = exact_units(instance.demand, instance.capacity)
    heaviest = int(demand.max())
    if heaviest == 0:
        return np.r_[0.0, np.ones(instance.size)], float(instance.size)
    scale = 1.0 if heaviest <= _MOST else _RESOLUTION / heaviest
    return demand.astype(np.float64) * scale, capacity * scale
