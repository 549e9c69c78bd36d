"""Capacitated vehicle routing: shortest routes that deliver all demands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from metasage.errors import InputError
from metasage.problems.base import (
    TOLERANCE,
    Arrays,
    Problem,
    by_size,
    find_missing,
    find_repeats,
    find_strays,
)
from metasage.problems.instance import Check, Instance, Solution
from metasage.problems.limits import (
    exact_units,
    find_excess,
    find_out_of_reach,
    least_vehicles,
    load_limit,
)
from metasage.problems.metric import Floats
from metasage.problems.rules import Rules

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike
    from torch import Tensor

    from metasage.problems.batch import Batch
    from metasage.problems.instance import Geometry

# Kool et al. (2019) up to 100, Hottung et al. (2021) up to 200, and 50 for
# everything larger, as in the paper's test sets.
_CAPACITIES: dict[int, float] = {20: 30, 50: 40, 100: 50, 125: 55, 150: 60, 200: 70}
_CAPACITY_ABOVE = 50.0
_LARGEST_DEMAND = 9
# Least, likeliest and most on a route of average demands, where the capacity varies.
_CUSTOMERS_OF_A_ROUTE = (3, 6, 25)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Cvrp(Instance):
    """An instance of the CVRP; what is not given is unlimited.

    Parameters
    ----------
    demand
        Demand of each node, 0 at the depot.
    capacity
        What a vehicle carries.
    vehicles
        Most routes with customers.
    max_route_length
        Most that the length of a route and the service times of its customers add up to.
    service_time
        Time at each node, 0 at the depot, or one number for all customers. It counts
        in ``max_route_length`` alone.
    """

    demand: Floats
    capacity: float
    vehicles: int | None = None
    max_route_length: float | None = None
    service_time: Floats | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            demand: ArrayLike,
            capacity: float,
            vehicles: int | None = None,
            max_route_length: float | None = None,
            service_time: ArrayLike | None = None,
            **geometry: Unpack[Geometry],
        ) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        self._store("demand", self.demand, (self.num_nodes,))
        self._store_number("capacity", self.capacity)
        if self.vehicles is not None:
            self._store_vehicles(self.vehicles)
        if self.max_route_length is not None:
            self._store_number("max_route_length", self.max_route_length)
        if self.service_time is not None:
            self._store_service_time(self.service_time)

    def _store_vehicles(self, value: object) -> None:
        self._store("vehicles", value, (), signed=True)
        number = float(self.vehicles or 0)
        if number < 1 or not number.is_integer():
            raise InputError(f"vehicles is {number:g} and must be a whole number from 1 on.")
        object.__setattr__(self, "vehicles", int(number))

    def _store_service_time(self, value: Floats) -> None:
        if np.ndim(value) == 0:
            self._store("service_time", value, ())
            value = np.full(self.num_nodes, self.service_time)
            value[0] = 0.0
        self._store("service_time", value, (self.num_nodes,))
        assert self.service_time is not None
        if own := float(self.service_time[0]):
            raise InputError(f"the depot has a service time of {own:g}, and must have none.")

    @property
    def is_limited(self) -> bool:
        """Whether there is more to keep to than the capacity."""
        return self.vehicles is not None or self.max_route_length is not None


class CvrpProblem(Problem):
    """Capacitated vehicle routing problem."""

    name = "cvrp"
    single_tour = False
    directed = True
    instance_class = Cvrp
    set_fields = ("depot", "loc", "demand", "capacity")
    num_features = 3
    constants = ("capacity",)

    def _draw(
        self, random: np.random.RandomState, arrays: Arrays, constants: Mapping[str, float]
    ) -> Arrays:
        count, size, _ = arrays["loc"].shape
        if constants.get("capacity", _LARGEST_DEMAND) < _LARGEST_DEMAND:
            raise InputError(f"demands go up to {_LARGEST_DEMAND}, and the capacity is smaller.")
        demand = random.randint(1, _LARGEST_DEMAND + 1, size=(count, size))
        return {
            "demand": demand,
            "capacity": np.full(count, constants.get("capacity", default_capacity(size))),
        }

    def _vary(self, random: np.random.RandomState, arrays: Arrays) -> Arrays:
        customers = random.triangular(*_CUSTOMERS_OF_A_ROUTE, size=len(arrays["loc"]))
        mean_demand = (1 + _LARGEST_DEMAND) / 2
        return {"capacity": np.maximum(np.round(customers * mean_demand), _LARGEST_DEMAND)}

    def from_arrays(self, arrays: Arrays, name: str = "") -> Cvrp:
        return Cvrp(
            coords=np.concatenate([arrays["depot"][None], arrays["loc"]]),
            demand=np.concatenate([[0.0], arrays["demand"]]),
            capacity=float(arrays["capacity"]),
            name=name,
        )

    def load(self, instance: Cvrp, route: Sequence[int]) -> float:
        return float(instance.demand[list(route)].sum())

    def facts(self, instance: Cvrp) -> dict[str, float]:
        facts = {
            "capacity": instance.capacity,
            "total demand": float(instance.demand[1:].sum()),
            "least vehicles": float(least_vehicles(instance)),
        }
        if instance.vehicles is not None:
            facts["vehicles"] = float(instance.vehicles)
        if instance.max_route_length is not None:
            facts["maximum route length"] = instance.max_route_length
        if instance.service_time is not None:
            facts["total service time"] = float(instance.service_time.sum())
        return facts

    def infeasibility(self, instance: Cvrp) -> str | None:
        if instance.size == 0:
            return None
        worst = 1 + int(np.argmax(instance.demand[1:]))
        if instance.demand[worst] > instance.capacity * (1 + TOLERANCE):
            return (
                f"customer {instance.labels[worst]} demands {instance.demand[worst]:g}, "
                f"more than the capacity {instance.capacity:g}."
            )
        least = least_vehicles(instance)
        if instance.vehicles is not None and least > instance.vehicles:
            return (
                f"the demands fill at least {least} vehicles of capacity {instance.capacity:g}, "
                f"and {instance.vehicles} is the most."
            )
        return find_out_of_reach(instance)

    def check(self, instance: Cvrp, solution: Solution) -> Check:
        if violation := find_strays(instance, solution):
            return Check(None, violation)
        routes = solution.routes
        # One walk from the depot to the depot, with a stop there between routes.
        walk = np.array([0, *(node for route in routes for node in (*route, 0))])
        steps = instance.lengths(walk[:-1], walk[1:])
        violation = find_repeats(instance, routes, "customer") or find_missing(
            instance, routes, "customer"
        )
        limit = load_limit(instance.demand, instance.capacity)
        demands = np.where(walk == 0, 0.0, instance.demand[walk])
        loads = np.add.reduceat(demands, np.flatnonzero(walk == 0))[:-1]
        if violation is None and (loads > limit).any():
            number = int(np.argmax(loads > limit))
            violation = f"route {number + 1} carries {loads[number]:g} of {instance.capacity:g}."
        return Check(float(steps.sum()), violation or find_excess(instance, walk, steps))

    def to_actions(self, solution: Solution) -> list[int]:
        routes = [route for route in solution.routes if route]
        return [node for route in routes for node in (*route, 0)][:-1]

    def to_solution(self, actions: Any) -> Solution:
        routes: list[list[int]] = [[]]
        for node in actions:
            if node != 0:
                routes[-1].append(int(node))
            elif routes[-1]:
                routes.append([])
        return Solution([route for route in routes if route])

    def why_no_network(self, instance: Cvrp) -> str | None:
        if instance.is_limited:
            return "limits on vehicles or routes are beyond the networks"
        return super().why_no_network(instance)

    def network_fields(self, instance: Cvrp, scale: float) -> Arrays:
        demand, capacity = exact_units(instance.demand, instance.capacity)
        return {"demand": demand.astype(np.float32), "capacity": np.array(capacity, np.float32)}

    def features(self, batch: Batch) -> Tensor:
        fraction = batch.fields["demand"] / batch.fields["capacity"].unsqueeze(-1)
        return batch.with_columns(fraction)

    def cost(self, batch: Batch, actions: Tensor) -> Tensor:
        return batch.depot_tour_length(actions)

    def rules(self, batch: Batch, rollouts: int) -> CvrpRules:
        return CvrpRules(batch, rollouts)


class CvrpRules(Rules):
    """A customer needs room on the vehicle; the depot may not follow itself.

    Loads are whole numbers in float32, below its exact range, or fractions of
    the capacity where a network was trained that way.
    """

    def __init__(self, batch: Batch, rollouts: int) -> None:
        super().__init__(batch, rollouts)
        self.capacity = batch.fields["capacity"].unsqueeze(-1)
        self.load = self.current.float()

    def forbidden(self) -> Tensor:
        loaded = self.load.unsqueeze(-1) + self.batch.fields["demand"].unsqueeze(1)
        forbidden = self.visited | (loaded > self.capacity.unsqueeze(-1))
        forbidden[..., 0] = (self.current == 0) & ~self.done
        return forbidden

    def scalar(self) -> Tensor:
        return (self.capacity - self.load) / self.capacity

    def step(self, nodes: Tensor) -> None:
        super().step(nodes)
        self.load = (self.load + self._gather("demand", nodes)).where(nodes != 0, 0.0)
        self.done = self._all_customers_visited()


def with_vehicles(instance: Instance, vehicles: int) -> Cvrp:
    """Return the same instance with another number of vehicles."""
    if not isinstance(instance, Cvrp):
        raise InputError(f"vehicles are counted in the cvrp, and this is {instance.problem.name}.")
    return replace(instance, vehicles=vehicles)


def default_capacity(size: int) -> float:
    """Capacity of the published recipe for a size."""
    return by_size(size, _CAPACITIES) if size <= max(_CAPACITIES) else _CAPACITY_ABOVE
