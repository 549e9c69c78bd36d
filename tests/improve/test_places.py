"""Nodes that share a place are searched as one."""

from dataclasses import replace

import numpy as np
import pytest
from improve_cases import make_instance, objective, optimum

from metasage.improve import improve, native_improver
from metasage.improve.tour.places import Places
from metasage.problems import Solution
from metasage.problems.metric import METRICS
from metasage.problems.tsp import Tsp

SINGLE = ("tsp", "pctsp", "op")


def crowded(problem, nodes, seed):
    """Draw an instance with two or three nodes at each place, the depot's among them."""
    instance = make_instance(problem, nodes, seed)
    house = np.random.default_rng(seed).permutation(nodes) % (nodes // 2)
    return replace(instance, coords=instance.coords[house])


@pytest.mark.parametrize("problem", SINGLE)
@pytest.mark.parametrize("seed", range(5))
def test_crowded_instances_are_solved_to_the_optimum(problem, seed):
    instance = crowded(problem, 7, seed)
    found = native_improver(instance, None).improve(kicks=300, seed=seed)
    assert objective(instance, found) == pytest.approx(optimum(instance))


@pytest.mark.parametrize("problem", ["tsp", "pctsp"])
def test_a_given_solution_may_come_to_a_place_twice(problem):
    instance = crowded(problem, 40, 1)
    improver = native_improver(instance, None)
    (tour,) = improver.construct().routes
    mixed = Solution([np.random.default_rng(0).permutation(tour).tolist()])
    found = improver.improve([mixed], kicks=200)
    assert objective(instance, found) < objective(instance, mixed)


def test_groups_keep_the_order_of_their_first_nodes():
    coords = np.array([(5, 5), (1, 1), (5, 5), (0, 0), (1, 1), (1, 1)], dtype=float)
    places = Places.of(Tsp(coords=coords))
    assert [group.tolist() for group in places.members] == [[0, 2], [1, 4, 5], [3]]
    assert places.sums(np.array([1.0, 2, 4, 8, 16, 32])).tolist() == [5, 50, 8]
    assert places.reduced(np.array([4, 3, 1, 2])).tolist() == [1, 2, 0]
    assert places.expanded(np.array([1, 2, 0])).tolist() == [1, 4, 5, 3, 0, 2]


def test_nobody_is_grouped_where_there_is_no_need_or_no_way():
    random = np.random.default_rng(0)
    assert Places.of(Tsp(coords=random.uniform(0, 1, (9, 2)))) is None
    # TSPLIB's geographical distance of a place to itself is 1.
    twins = Tsp(coords=np.zeros((6, 2)), metric=METRICS["GEO"])
    assert Places.of(twins) is None


def test_all_nodes_at_one_place_are_a_tour():
    instance = Tsp(coords=np.ones((50, 2)))
    found = improve(instance, kicks=10)
    assert objective(instance, found) == 0
