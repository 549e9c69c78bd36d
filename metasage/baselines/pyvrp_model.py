"""Instances as PyVRP's problem data, and solutions back and forth.

TSP: one vehicle from the first node. CVRP: as it is, with a duration where the length of
routes is limited. OP: prizes and a greatest
distance. PCTSP: penalties as prizes, to which a weight times the real prize is
added, since PyVRP knows no least prize (Lagrangian relaxation).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyvrp

from metasage.errors import InputError
from metasage.problems import Instance, Solution
from metasage.problems.base import TOLERANCE
from metasage.problems.cvrp import Cvrp
from metasage.problems.limits import MOST_IN_INTEGERS, exact_units
from metasage.problems.metric import Floats
from metasage.problems.op import Op
from metasage.problems.pctsp import Pctsp
from metasage.problems.scaling import length_unit, nearest_units, units_above
from metasage.problems.tsp import Tsp

# Units of the longest edge where lengths are not whole. More would outgrow the
# penalties with which PyVRP drives infeasibility out.
_RESOLUTION = 10_000

# An OP's largest prize in least ones, at most.
_MOST_PRIZES = 100


class PyvrpModel:
    """An instance as PyVRP sees it.

    Parameters
    ----------
    instance
        The instance, of two nodes at least.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        lengths = instance.length_matrix()
        self.unit = length_unit(lengths, _RESOLUTION)
        if isinstance(instance, Cvrp):
            self._demand, self._capacity = exact_units(
                instance.demand, instance.capacity, MOST_IN_INTEGERS
            )
            self.unit = _priced_unit(self.unit, float(lengths.max()), int(self._demand.max()))
        # An OP's integer tour is no shorter than the real one.
        to_units = units_above if isinstance(instance, Op) else nearest_units
        self._lengths = to_units(lengths, self.unit)
        self._durations = np.zeros_like(self._lengths)
        self._service = np.zeros(instance.num_nodes, dtype=np.int64)
        self._longest: int | None = None
        if isinstance(instance, Cvrp) and instance.max_route_length is not None:
            self._bound_routes(instance.max_route_length, instance.service_time, lengths)

    def _bound_routes(self, longest: float, service: Floats | None, lengths: Floats) -> None:
        """Put the limit of routes into units of its own, in which they are no shorter."""
        service = np.zeros(len(lengths)) if service is None else service
        unit = length_unit(lengths + service, _RESOLUTION)
        self._durations, self._service = units_above(lengths, unit), units_above(service, unit)
        self._longest = int(longest * unit * (1 + TOLERANCE))

    def data(self, weight: float = 0.0) -> pyvrp.ProblemData:
        """Build the problem data.

        Parameters
        ----------
        weight
            Length that a unit of prize is worth in the PCTSP.
        """
        clients, vehicle = self._clients(weight), self._vehicle()
        lengths: Any = self._lengths
        durations: Any = self._durations
        places = [pyvrp.Location(0, 0)] * self.instance.num_nodes  # only lengths count
        depots = [pyvrp.Depot(0)]
        return pyvrp.ProblemData(places, clients, depots, [vehicle], [lengths], [durations])

    def _clients(self, weight: float) -> list[pyvrp.Client]:
        instance, nodes = self.instance, range(1, self.instance.num_nodes)
        if isinstance(instance, Tsp):
            return [pyvrp.Client(node) for node in nodes]
        if isinstance(instance, Cvrp):
            loads, times = self._demand.tolist(), self._service.tolist()
            return [pyvrp.Client(n, delivery=[loads[n]], service_duration=times[n]) for n in nodes]
        if isinstance(instance, Op):
            # The least prize is worth more than any tour is long, unless the largest were
            # then worth more than PyVRP can charge for a tour that is too long.
            least = max(instance.least_prize, float(instance.prize.max()) / _MOST_PRIZES)
            worth = instance.prize * (2.0 * instance.max_length / least)
        elif isinstance(instance, Pctsp):
            worth = instance.penalty + weight * instance.prize
        else:
            raise InputError(f"PyVRP does not solve {instance.problem.name} here.")
        prizes = nearest_units(worth, self.unit)
        return [pyvrp.Client(node, prize=int(prizes[node]), required=False) for node in nodes]

    def _vehicle(self) -> pyvrp.VehicleType:
        if isinstance(self.instance, Cvrp):
            count = min(self.instance.vehicles or self.instance.size, self.instance.size)
            vehicle = pyvrp.VehicleType(count, capacity=[self._capacity])
            if self._longest is None:
                return vehicle
            return vehicle.replace(shift_duration=self._longest)
        if isinstance(self.instance, Op):
            limit = self.instance.max_length * self.unit * (1 + TOLERANCE)
            return pyvrp.VehicleType(max_distance=int(limit))
        return pyvrp.VehicleType()

    def to_pyvrp(self, solution: Solution, data: pyvrp.ProblemData) -> pyvrp.Solution:
        """Turn a solution into PyVRP's, which counts the nodes after the first."""
        routes = [list(route) for route in solution.routes if route]
        if not self.instance.problem.has_depot:
            (tour,) = routes
            first = tour.index(0)
            routes = [tour[first + 1 :] + tour[:first]]
        return pyvrp.Solution(data, [[node - 1 for node in route] for route in routes])

    def from_pyvrp(self, found: pyvrp.Solution) -> Solution:
        """Turn PyVRP's solution into one of the instance."""
        routes: list[list[int]] = [_visits(route) for route in found.routes()]
        if self.instance.problem.single_tour:
            tour = [node for route in routes for node in route]
            routes = [tour if self.instance.problem.has_depot else [0, *tour]]
        return Solution(routes)


def _priced_unit(unit: float, longest: float, heaviest: int) -> float:
    """Return a unit of length in which PyVRP's penalties can price overload.

    A vehicle that carries the heaviest demand too much must cost about the longest
    edge, and a penalty lies between 0.1 and 100,000 for each unit of load. One unit
    too much must not be cheap, either, unless units of load are very small.
    """
    if longest == 0 or heaviest == 0:
        return unit
    coarse = max(_RESOLUTION, heaviest)
    can_price_all = 0.5 <= longest * unit / heaviest <= 2 * _RESOLUTION
    if can_price_all and longest * unit <= 10 * coarse:
        return unit
    return coarse / longest


def _visits(route: Any) -> list[int]:
    return [visit.idx + 1 for visit in route if visit.is_client()]
