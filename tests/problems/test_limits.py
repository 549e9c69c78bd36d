"""Vehicles, lengths of routes and service times of the CVRP: checked, proven and shown."""

from itertools import permutations, product

import numpy as np
import pytest

from metasage.errors import InputError
from metasage.problems import Check, Solution, check
from metasage.problems.batch import Batch
from metasage.problems.cvrp import Cvrp, with_vehicles
from metasage.problems.metric import EXPLICIT, METRICS
from metasage.problems.tsp import Tsp

# From the depot 3, 5 and 4; 3-4-5 triangles everywhere.
RECTANGLE = [[0, 0], [0, 3], [4, 3], [4, 0]]


def rectangle(**limits: object) -> Cvrp:
    fields = {"demand": [0, 5, 5, 4], "capacity": 10} | limits
    return Cvrp(coords=RECTANGLE, labels=[10, 11, 17, 13], **fields)


@pytest.mark.parametrize(
    ("limits", "routes", "violation"),
    [
        ({"vehicles": 3}, [[1], [2], [3]], None),
        ({"vehicles": 2}, [[1], [2], [3]], "there are 3 routes with customers and 2 vehicles."),
        ({"vehicles": 1}, [[1, 2], [3]], "there are 2 routes with customers and 1 vehicle."),
        ({"vehicles": 2}, [[1, 2], [], [3], []], None),
        ({"vehicles": 1}, [[1], [2], []], "customer 13 not visited."),
        ({"vehicles": 1}, [[1, 2, 3]], "route 1 carries 14 of 10."),
        ({"max_route_length": 12}, [[3], [1, 2]], None),
        ({"max_route_length": 11.5}, [[3], [1, 2]], "route 2 takes 12 of 11.5."),
        ({"max_route_length": 11.5}, [[3], [], [1, 2]], "route 3 takes 12 of 11.5."),
        ({"max_route_length": 12 - 1e-8}, [[3], [1, 2]], None),
        ({"max_route_length": 12 - 1e-6}, [[3], [1, 2]], "route 2 takes 12 of 11.999999."),
        ({"max_route_length": 17, "service_time": 2.5}, [[3], [1, 2]], None),
        ({"max_route_length": 16, "service_time": 2.5}, [[3], [1, 2]], "route 2 takes 17 of 16."),
        ({"max_route_length": 17, "service_time": [0, 0, 9, 0]}, [[1, 3], [2]],
         "route 2 takes 19 of 17."),
        ({"max_route_length": 19, "service_time": [0, 0, 9, 0]}, [[1, 3], [2]], None),
        ({"service_time": 1e6}, [[1, 2], [3]], None),
        ({"vehicles": 1, "max_route_length": 11}, [[1, 2], [3]], "route 1 takes 12 of 11."),
    ],
)  # fmt: skip
def test_each_limit_kept_and_broken(limits, routes, violation):
    assert check(rectangle(**limits), Solution(routes)).violation == violation


def test_limits_do_not_change_the_objective():
    limited = rectangle(vehicles=1, max_route_length=1, service_time=50)
    for routes in ([[1, 2], [3]], [], [[]]):
        objective = check(rectangle(), Solution(routes)).objective
        assert check(limited, Solution(routes)).objective == objective


def test_nobody_to_visit_takes_no_time():
    alone = Cvrp(coords=[[0, 0]], demand=[0], capacity=1, vehicles=1, max_route_length=1)
    assert check(alone, Solution([])) == Check(0.0, None)
    assert alone.problem.infeasibility(alone) is None


def test_fields_are_kept_as_they_are_used():
    instance = rectangle(vehicles=3.0, max_route_length=20, service_time=2)
    assert (instance.vehicles, type(instance.vehicles)) == (3, int)
    assert (instance.max_route_length, type(instance.max_route_length)) == (20.0, float)
    assert instance.service_time.tolist() == [0, 2, 2, 2]
    assert rectangle(service_time=[0, 1, 2, 3]).service_time.tolist() == [0, 1, 2, 3]
    assert rectangle().service_time is None


@pytest.mark.parametrize(
    ("limits", "limited"),
    [
        ({}, False),
        ({"service_time": 3}, False),
        ({"vehicles": 9}, True),
        ({"max_route_length": 1e9}, True),
    ],
)
def test_what_counts_as_a_limit(limits, limited):
    instance = rectangle(**limits)
    assert instance.is_limited == limited
    reason = instance.problem.why_no_network(instance)
    assert (reason is not None) == limited
    if limited:
        assert reason == "limits on vehicles or routes are beyond the networks"
        with pytest.raises(InputError, match="beyond the networks"):
            Batch.of([instance])


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"vehicles": 0}, "vehicles is 0 and must be a whole number from 1 on."),
        ({"vehicles": -3}, "vehicles is -3 and must be a whole number from 1 on."),
        ({"vehicles": 2.5}, "vehicles is 2.5 and must be a whole number from 1 on."),
        ({"vehicles": "two"}, "the vehicles values are not all numbers."),
        ({"vehicles": float("inf")}, "vehicles holds a value that is not a finite number."),
        ({"max_route_length": 0}, "max_route_length is 0 and must be positive."),
        ({"max_route_length": -1}, "max_route_length holds a negative value."),
        ({"service_time": -1}, "service_time holds a negative value."),
        ({"service_time": [0, 1, 1]}, "service_time has the shape (3,) and not (4,)."),
        ({"service_time": [0, 1, -1, 1]}, "service_time holds a negative value."),
        ({"service_time": [4, 1, 1, 1]}, "the depot has a service time of 4, and must have none."),
    ],
)
def test_impossible_limits_are_refused(limits, sentence):
    with pytest.raises(InputError) as caught:
        rectangle(**limits)
    assert str(caught.value) == sentence


def test_facts_show_the_limits():
    instance = rectangle(vehicles=3, max_route_length=20, service_time=2)
    facts = instance.problem.facts(instance)
    assert facts["least vehicles"] == 2
    assert (facts["vehicles"], facts["maximum route length"]) == (3, 20)
    assert facts["total service time"] == 6
    assert set(rectangle().problem.facts(rectangle())) == {
        "capacity", "total demand", "least vehicles"
    }  # fmt: skip


def test_another_number_of_vehicles():
    assert with_vehicles(rectangle(vehicles=3), 5).vehicles == 5
    with pytest.raises(InputError, match="vehicles is 0"):
        with_vehicles(rectangle(), 0)
    with pytest.raises(InputError, match="counted in the cvrp, and this is tsp"):
        with_vehicles(Tsp(coords=RECTANGLE), 2)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"vehicles": 2}, None),
        ({"vehicles": 1},
         "the demands fill at least 2 vehicles of capacity 10, and 1 is the most."),
        ({"vehicles": 2, "demand": [90, 5, 5, 10]}, None),
        # A sum in binary that is a little more than the capacity is none the more.
        ({"vehicles": 1, "demand": [0, 0.1, 0.1, 0.1], "capacity": 0.3}, None),
        ({"max_route_length": 10}, None),
        ({"max_route_length": 9.9},
         "customer 17 takes a route of at least 10, and 9.9 is the most."),
        ({"max_route_length": 12, "service_time": 2}, None),
        ({"max_route_length": 12, "service_time": [0, 6.5, 0, 0]},
         "customer 11 takes a route of at least 12.5, and 12 is the most."),
    ],
)  # fmt: skip
def test_what_is_proven(limits, reason):
    instance = rectangle(**limits)
    assert instance.problem.infeasibility(instance) == reason


def test_a_detour_may_be_the_only_way():
    """To customer 2 it is 100 there and back, or 7 each way by customer 1."""
    lengths = np.array([[0, 3, 50], [3, 0, 4], [50, 4, 0]])
    fields = {"matrix": lengths, "metric": EXPLICIT, "demand": [0, 1, 1], "capacity": 5}
    route = Solution([[1, 2]])
    enough = Cvrp(**fields, max_route_length=57)
    assert enough.problem.infeasibility(enough) is None
    assert check(enough, route).feasible
    # Only the bound of 14 is certain, since whoever is on the way there is not on the way back.
    unproven = Cvrp(**fields, max_route_length=14)
    assert unproven.problem.infeasibility(unproven) is None
    proven = Cvrp(**fields, max_route_length=13)
    assert "at least 14, and 13" in proven.problem.infeasibility(proven)


def test_directions_are_told_apart():
    """Customer 1 is 1 away and 10 from home, and home from customer 2 it is 2."""
    lengths = [[0, 1, 9], [10, 0, 3], [2, 9, 0]]
    fields = {"matrix": lengths, "metric": EXPLICIT, "demand": [0, 1, 1], "capacity": 5}
    enough = Cvrp(**fields, max_route_length=6)
    assert enough.problem.infeasibility(enough) is None
    assert check(enough, Solution([[1, 2]])).feasible
    assert check(enough, Solution([[2, 1]])).violation == "route 1 takes 28 of 6."
    short = Cvrp(**fields, max_route_length=5)
    assert "takes a route of at least 6, and 5" in short.problem.infeasibility(short)


def every_solution(customers: int) -> list[Solution]:
    found = []
    for order in permutations(range(1, customers + 1)):
        for cuts in product((False, True), repeat=customers - 1):
            routes = [[order[0]]]
            for node, cut in zip(order[1:], cuts, strict=True):
                if cut:
                    routes.append([])
                routes[-1].append(node)
            found.append(Solution(routes))
    return found


@pytest.mark.parametrize(
    "kind", ["matrix", "directed", "EUC_2D", "CEIL_2D", "FLOOR_2D", "EXACT_2D"]
)
def test_what_is_called_infeasible_has_no_solution(kind):
    """By brute force: of the 192 solutions of each instance, none may be feasible."""
    random = np.random.default_rng(5)
    solutions = every_solution(4)
    claims = feasible = 0
    for _ in range(60):
        if kind in METRICS:
            places = {"coords": random.uniform(0, 4, (5, 2)), "metric": METRICS[kind]}
        else:
            lengths = random.integers(1, 12, (5, 5)).astype(float)
            lengths = lengths if kind == "directed" else np.minimum(lengths, lengths.T)
            places = {"matrix": lengths, "metric": EXPLICIT}
        instance = Cvrp(
            **places,
            demand=np.append(0, random.integers(1, 6, 4)),
            capacity=8,
            vehicles=int(random.integers(1, 4)),
            max_route_length=float(random.integers(4, 16)),
            service_time=np.append(0, random.integers(0, 2, 4)),
        )
        reason = instance.problem.infeasibility(instance)
        solvable = any(check(instance, solution).feasible for solution in solutions)
        assert reason is None or not solvable, reason
        claims += reason is not None
        feasible += solvable
    assert claims >= 10
    assert feasible >= 3
