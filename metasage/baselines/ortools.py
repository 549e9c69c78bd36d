"""OR-Tools' routing library for all four problems.

CVRP with a dimension for the load, and one for the length where that is limited; OP
and PCTSP with nodes that may be left out at a price: OP under a dimension for the
length, PCTSP under one for the prize, which must be enough at the end of the tour.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from metasage.baselines.base import LIMITS, Baseline, Track
from metasage.baselines.fleet import enough_vehicles, service_times
from metasage.baselines.heuristics import EVERY_PROBLEM
from metasage.improve.nearest import nearest_neighbour
from metasage.problems import Instance, Solution
from metasage.problems.base import TOLERANCE
from metasage.problems.cvrp import Cvrp
from metasage.problems.limits import MOST_IN_INTEGERS, exact_units
from metasage.problems.op import Op
from metasage.problems.pctsp import Pctsp
from metasage.problems.scaling import length_unit, nearest_units, units_above, units_below

# Units of the longest edge where lengths are not whole, and of the minimum prize.
_RESOLUTION = 1_000_000

# Weight of the penalties that guide the search in the OP, where prizes dwarf the
# arcs to which the penalties are proportional.
_OP_GUIDANCE = 1000.0

# Vehicles beyond those of a simple heuristic, so that there is a choice.
_SPARE_VEHICLES = 5


class OrTools(Baseline):
    """Guided local search of the routing library, on one core."""

    name = "ortools"
    problems = EVERY_PROBLEM
    in_child = True
    keeps = frozenset(LIMITS)
    hint = "pip install 'metasage[baselines]'"

    def is_available(self) -> bool:
        """Whether the package is installed."""
        return find_spec("ortools") is not None

    def search(self, instance: Any, track: Track, seed: int) -> None:
        """Search until the time is over; the library takes no seed."""
        if instance.num_nodes == 1:
            track.offer(Solution([[]] if instance.problem.has_depot else [[0]]))
            return
        _Routing(instance).search(track)


class _Routing:
    """A model of the routing library."""

    def __init__(self, instance: Instance) -> None:
        from ortools.constraint_solver import pywrapcp  # type: ignore[import-untyped]

        self.instance = instance
        self.vehicles = 1
        if isinstance(instance, Cvrp):
            enough = enough_vehicles(instance) + _SPARE_VEHICLES
            self.vehicles = min(instance.size, instance.vehicles or enough)
        self.manager = pywrapcp.RoutingIndexManager(instance.num_nodes, self.vehicles, 0)
        self.routing = pywrapcp.RoutingModel(self.manager)
        lengths = instance.length_matrix()
        self.unit = length_unit(lengths, _RESOLUTION)
        to_units = units_above if isinstance(instance, Op) else nearest_units
        self.arcs = self.routing.RegisterTransitMatrix(to_units(lengths, self.unit).tolist())
        self.routing.SetArcCostEvaluatorOfAllVehicles(self.arcs)
        if isinstance(instance, Cvrp):
            self._deliver(instance)
        elif isinstance(instance, Op):
            self._bound_length(instance)
        elif isinstance(instance, Pctsp):
            self._collect_enough(instance)

    def _deliver(self, instance: Cvrp) -> None:
        demand, capacity = exact_units(instance.demand, instance.capacity, MOST_IN_INTEGERS)
        loads = self.routing.RegisterUnaryTransitVector(demand.tolist())
        self.routing.AddDimension(loads, 0, capacity, True, "load")
        if instance.max_route_length is not None:
            takes = instance.length_matrix() + service_times(instance)[:, None]
            unit = length_unit(takes, _RESOLUTION)
            times = self.routing.RegisterTransitMatrix(units_above(takes, unit).tolist())
            limit = int(instance.max_route_length * unit * (1 + TOLERANCE))
            self.routing.AddDimension(times, 0, limit, True, "length")

    def _bound_length(self, instance: Op) -> None:
        limit = int(instance.max_length * self.unit * (1 + TOLERANCE))
        self.routing.AddDimension(self.arcs, 0, limit, True, "length")
        # The least prize is worth more than any tour is long.
        self._make_optional(nearest_units(instance.prize, 2.0 * limit / instance.least_prize))

    def _collect_enough(self, instance: Pctsp) -> None:
        prizes = units_below(instance.prize / instance.min_prize, _RESOLUTION)
        collected = self.routing.RegisterUnaryTransitVector(prizes.tolist())
        total = int(prizes.sum())
        self.routing.AddDimension(collected, 0, total, True, "prize")
        least = min(total, _RESOLUTION)
        self.routing.GetDimensionOrDie("prize").CumulVar(self.routing.End(0)).SetMin(least)
        self._make_optional(nearest_units(instance.penalty, self.unit))

    def _make_optional(self, prices: Any) -> None:
        for node in range(1, self.instance.num_nodes):
            self.routing.AddDisjunction([self.manager.NodeToIndex(node)], int(prices[node]))

    def search(self, track: Track) -> None:
        """Search, and offer each new best solution."""
        from ortools.constraint_solver import pywrapcp, routing_enums_pb2

        strategies = routing_enums_pb2.FirstSolutionStrategy
        parameters = pywrapcp.DefaultRoutingSearchParameters()
        metaheuristics = routing_enums_pb2.LocalSearchMetaheuristic
        parameters.local_search_metaheuristic = metaheuristics.GUIDED_LOCAL_SEARCH
        parameters.time_limit.FromMilliseconds(max(1, int(1000 * track.left())))
        best = np.inf

        def on_solution() -> None:
            nonlocal best
            cost = self.routing.CostVar().Max()
            if cost < best:
                best = cost
                track.offer(Solution(self._routes()))

        self.routing.AddAtSolutionCallback(on_solution)
        if isinstance(self.instance, Cvrp):
            parameters.first_solution_strategy = strategies.SAVINGS
        elif isinstance(self.instance, Op):
            parameters.guided_local_search_lambda_coefficient = _OP_GUIDANCE
        self.routing.CloseModelWithParameters(parameters)
        if isinstance(self.instance, (Op, Pctsp)):
            initial = nearest_neighbour(_with_prize_to_spare(self.instance))
            track.offer(initial)
            start = self._assignment(initial)
            self.routing.SolveFromAssignmentWithParameters(start, parameters)
        else:
            self.routing.SolveWithParameters(parameters)

    def _assignment(self, solution: Solution) -> Any:
        """Return a solution from which to start: the library finds none that collects enough."""
        return self.routing.ReadAssignmentFromRoutes([list(r) for r in solution.routes], True)

    def _routes(self) -> list[list[int]]:
        """Read the present solution."""
        routes: list[list[int]] = []
        for vehicle in range(self.vehicles):
            index, route = self.routing.Start(vehicle), []
            while not self.routing.IsEnd(index):
                route.append(int(self.manager.IndexToNode(index)))
                index = self.routing.NextVar(index).Value()
            routes.append(route[1:] if self.instance.problem.has_depot else route)
        full = [route for route in routes if route]
        return full if isinstance(self.instance, Cvrp) else routes


def _with_prize_to_spare(instance: Instance) -> Instance:
    """Ask for a little more prize, since the model counts every prize rounded down."""
    if not isinstance(instance, Pctsp):
        return instance
    lost = instance.num_nodes / _RESOLUTION
    return replace(instance, min_prize=instance.min_prize * (1.0 + lost))
