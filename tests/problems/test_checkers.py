import numpy as np
import pytest

from metasage.errors import InputError
from metasage.problems import Check, Solution, check
from metasage.problems.cvrp import Cvrp
from metasage.problems.metric import EXACT_2D
from metasage.problems.op import Op
from metasage.problems.pctsp import Pctsp
from metasage.problems.tsp import Tsp

SQUARE = np.array([[0, 0], [0, 3], [4, 3], [4, 0]], dtype=float)
LABELS = [10, 11, 17, 13]
TSP = Tsp(coords=SQUARE, labels=LABELS)
CVRP = Cvrp(coords=SQUARE, labels=LABELS, demand=[0, 50, 53, 40], capacity=100)
PCTSP = Pctsp(coords=SQUARE, labels=LABELS, prize=[0, 0.5, 0.4, 0.2], penalty=[0, 1, 2, 4])
OP = Op(coords=SQUARE, labels=LABELS, prize=[7, 1, 2, 3], max_length=12)


@pytest.mark.parametrize(
    ("instance", "routes", "objective", "violation"),
    [
        (TSP, [[0, 1, 2, 3]], 14, None),
        (TSP, [[0, 2, 1, 3]], 18, None),
        (TSP, [[0, 1, 2]], 12, "node 13 not visited."),
        (TSP, [[0]], 0, "node 11 not visited, nor 2 more."),
        (TSP, [[0, 1, 2, 2, 3]], 14, "node 17 visited twice."),
        (TSP, [[0, 1], [2, 3]], 14, "a tour is one route, and there are 2."),
        (TSP, [[0, 1, 2, 4]], None, "node 4 does not exist: the instance has 4 nodes."),
        (TSP, [[0, 1, 2, -1]], None, "node -1 does not exist: the instance has 4 nodes."),
        (CVRP, [[1, 3], [2]], 12 + 10, None),
        (CVRP, [[1], [2], [3]], 24, None),
        (CVRP, [[1], [2], [], [3]], 24, None),
        (CVRP, [[3], [1, 2]], 20, "route 2 carries 103 of 100."),
        (CVRP, [[1, 3]], 12, "customer 17 not visited."),
        (CVRP, [[1, 3], [2], [2]], 32, "customer 17 visited twice."),
        (CVRP, [[1, 3], [2, 2, 2]], 22, "customer 17 visited 3 times."),
        (CVRP, [[1, 0, 3], [2]], None, "the depot is visited inside a route."),
        (PCTSP, [[1, 2, 3]], 14, None),
        (PCTSP, [[1, 2]], 12 + 4, "the tour collects 0.9 of at least 1."),
        (PCTSP, [[1, 2, 1]], 14 + 4, "customer 11 visited twice."),
        (PCTSP, [[]], 7, "the tour collects 0 of at least 1."),
        (OP, [[2]], 9, None),
        (OP, [[1, 2]], 10, None),
        (OP, [[]], 7, None),
        (OP, [], 7, None),
        (OP, [[1, 2, 3]], 13, "the tour is 14 long, of at most 12."),
        (OP, [[2, 2]], 9, "customer 17 visited twice."),
    ],
)
def test_verdicts_on_a_three_by_four_rectangle(instance, routes, objective, violation):
    verdict = check(instance, Solution(routes))
    assert verdict.violation == violation
    assert verdict.objective == (objective if objective is None else pytest.approx(objective))


def test_cvrp_demand_above_capacity_is_named():
    instance = Cvrp(coords=SQUARE, labels=LABELS, demand=[0, 1, 101, 1], capacity=100)
    reason = instance.problem.infeasibility(instance)
    assert reason == "customer 17 demands 101, more than the capacity 100."
    assert CVRP.problem.infeasibility(CVRP) is None


def test_pctsp_with_too_little_prize_is_infeasible():
    instance = Pctsp(coords=SQUARE, prize=[0, 0.1, 0.1, 0.1], penalty=[0, 1, 1, 1])
    reason = instance.problem.infeasibility(instance)
    assert reason == "all prizes together are 0.3, below the minimum 1."


@pytest.mark.parametrize(
    "broken",
    [
        {"coords": [[0, 0], [np.nan, 1], [1, 1]]},
        {"coords": [[0, 0], [1e300, 1], [1, 1]]},
        {"coords": [[0, 0, 0]] * 3},
        {"demand": [0, 1]},
        {"demand": [0, -1, 1]},
        {"capacity": 0},
        {"capacity": float("inf")},
        {"labels": [1, 1, 2]},
        {"matrix": np.zeros((3, 3)), "metric": EXACT_2D},
        {"matrix": np.zeros((2, 2))},
    ],
)
def test_impossible_instances_are_refused_in_one_sentence(broken):
    fields = {"coords": [[0, 0], [1, 0], [1, 1]], "demand": [0, 1, 1], "capacity": 5} | broken
    with pytest.raises(InputError) as caught:
        Cvrp(**fields)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_a_demand_of_the_depot_burdens_no_vehicle():
    instance = Cvrp(coords=[[0, 0], [1, 0], [0, 1]], demand=[4, 3, 3], capacity=6)
    assert check(instance, Solution([[1, 2]])) == Check(pytest.approx(2 + 2**0.5), None)
    assert check(instance, Solution([[1], [], [2]])).objective == pytest.approx(4.0)
    heavy = Cvrp(coords=[[0, 0], [1, 0]], demand=[40, 3], capacity=6)
    assert heavy.problem.infeasibility(heavy) is None


def test_a_depot_has_no_prize_in_the_pctsp():
    with pytest.raises(InputError, match=r"the depot has a prize of 0\.4"):
        Pctsp(coords=SQUARE, prize=[0.4, 1, 1, 1], penalty=[0] * 4)
