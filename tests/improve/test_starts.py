"""What a search begins with where nothing is given."""

import time

import numpy as np
import pytest
from improve_cases import make_instance, objective, optimum

import metasage
import metasage._native as _native
from metasage.improve import make_improver
from metasage.improve.nearest import nearest_neighbour
from metasage.problems import Solution, check
from metasage.problems.metric import EXPLICIT
from metasage.problems.tsp import Tsp
from metasage.runtime.interrupts import Patience


def join(coords, demand, capacity):
    """Routes by the savings, each from its smaller end."""
    routes = _native.RoutesImprover(
        measure="EXACT_2D",
        rounding="none",
        data=np.array(coords, dtype=float),
        demand=np.array(demand, dtype=np.int64),
        capacity=capacity,
    ).construct(threads=1, seed=0, seconds_left=None)
    return sorted(min(route.tolist(), route.tolist()[::-1]) for route in routes)


def test_the_largest_saving_comes_first():
    # On a line from the depot, savings are twice the way to the nearer of two.
    places = [(0, 0), (1, 0), (2, 0), (3, 0), (-1, 0)]
    assert join(places, [0, 1, 1, 1, 1], 2) == [[1, 4], [2, 3]]
    assert join(places, [0, 1, 1, 1, 1], 3) == [[1, 2, 3], [4]]
    assert join(places, [0, 2, 1, 2, 1], 2) == [[1], [2, 4], [3]]


@pytest.mark.parametrize("seed", range(5))
def test_joined_routes_are_feasible_and_not_far_from_the_best(seed):
    instance = make_instance("cvrp", 8, seed)
    routes = join(instance.coords, instance.demand, int(instance.capacity))
    found = objective(instance, Solution(routes))
    assert optimum(instance) - 1e-9 <= found <= 1.35 * optimum(instance)


@pytest.mark.parametrize("nodes", [1500, 5000])
def test_an_op_of_many_nodes_starts_dense(nodes):
    instance = metasage.generate("op", nodes, 1, 5)[0]
    start = make_improver(instance).construct()
    assert check(instance, start).feasible
    assert objective(instance, start) > 1.2 * objective(instance, nearest_neighbour(instance))


def test_many_customers_of_one_place_share_routes():
    # 150 flats in each of four houses: neighbour lists that hold flats of the same house alone
    # must not leave any of them a route of their own.
    houses = np.repeat([(9, 0), (0, 9), (-9, 0), (0, -9)], 150, axis=0)
    routes = join([(0, 0), *houses], [0, *[1] * 600], 150)
    assert sorted(map(len, routes)) == [150] * 4


@pytest.mark.parametrize("problem", ["tsp", "pctsp", "op", "cvrp"])
def test_a_start_that_has_no_time_is_feasible(problem):
    instance = metasage.generate(problem, 3000, 1, 5)[0]
    start = make_improver(instance).construct(Patience(time.monotonic() - 1.0))
    assert check(instance, start).feasible


def test_an_op_of_very_many_nodes_starts_without_the_tour_through_all():
    instance = metasage.generate("op", 20_001, 1, 5, max_length=3.0)[0]
    improver = make_improver(instance)
    starts = improver.starts()
    assert len(starts) == 5
    assert all(check(instance, start).feasible for start in starts)


def test_a_matrix_with_a_row_of_zeros_has_a_local_optimum():
    # A node at no distance from all others opens the tour; the rest is a grid, where many
    # exchanges gain nothing but rounding.
    side = np.arange(7) * 0.1
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    matrix = np.zeros((50, 50))
    matrix[1:, 1:] = np.linalg.norm(grid[:, None] - grid, axis=-1)
    instance = Tsp(matrix=matrix, metric=EXPLICIT)
    found = make_improver(instance).improve(kicks=5000)
    assert objective(instance, found) == pytest.approx(4.8)
