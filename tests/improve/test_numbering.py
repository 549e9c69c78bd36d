import numpy as np
import pytest

from metasage.improve import make_improver
from metasage.improve.routes import numbering
from metasage.improve.routes.numbering import along_curve
from metasage.problems import check, get_problem
from metasage.problems.cvrp import Cvrp
from metasage.problems.metric import EXPLICIT
from metasage.problems.sets import InstanceSet


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbering, "FEW", 10)


def grid(side: int) -> Cvrp:
    places = np.array([(x, y) for x in range(side) for y in range(side)], dtype=float)
    return Cvrp(coords=places, demand=np.r_[0, np.ones(side**2 - 1)], capacity=5)


@pytest.mark.usefixtures("few_are_many")
def test_each_step_on_a_grid_goes_to_a_neighbour():
    instance = grid(16)
    order = along_curve(instance)
    assert order[0] == 0
    assert sorted(order) == list(range(256))
    steps = np.abs(np.diff(instance.coords[order], axis=0)).sum(axis=1)
    assert (steps == 1).all()


def test_few_nodes_stay_in_their_order():
    assert along_curve(grid(16)).tolist() == list(range(256))


@pytest.mark.usefixtures("few_are_many")
def test_nodes_with_a_matrix_stay_in_their_order():
    matrix = np.ones((20, 20)) - np.eye(20)
    instance = Cvrp(
        coords=None, matrix=matrix, demand=np.r_[0, np.ones(19)], capacity=5, metric=EXPLICIT
    )
    assert along_curve(instance).tolist() == list(range(20))


@pytest.mark.usefixtures("few_are_many")
def test_routes_come_back_by_the_numbers_of_the_instance():
    problem = get_problem("cvrp")
    instance = InstanceSet(problem, problem.generate(40, 1, seed=3))[0]
    improver = make_improver(instance, threads=1)
    told: list[float] = []
    found = improver.improve(kicks=500, seed=1, listener=lambda value: told.append(value))
    verdict = check(instance, found)
    assert verdict.feasible
    assert verdict.objective == pytest.approx(told[-1])
    again = improver.improve([found], kicks=0, seed=1)
    assert check(instance, again).objective == pytest.approx(verdict.objective)
