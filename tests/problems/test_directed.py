"""Lengths that differ by direction: who takes them, and how they are measured."""

import pickle

import numpy as np
import pytest

from metasage.errors import InputError
from metasage.problems import Solution, check
from metasage.problems.batch import Batch
from metasage.problems.cvrp import Cvrp
from metasage.problems.metric import EXPLICIT
from metasage.problems.op import Op
from metasage.problems.pctsp import Pctsp
from metasage.problems.tsp import Tsp

# 0 -> 1 -> 2 -> 0 is 1 + 2 + 3; the other way round it is 30 + 20 + 10.
ROUND = np.array([[0, 1, 30], [10, 0, 2], [3, 20, 0]], dtype=float)
PLACES = [[0, 0], [1, 0], [0, 1]]


def tsp(matrix=ROUND, **more):
    return Tsp(matrix=matrix, metric=EXPLICIT, **more)


def cvrp(matrix=ROUND, **more):
    return Cvrp(matrix=matrix, metric=EXPLICIT, demand=[0, 1, 1], capacity=2, **more)


def test_a_tour_is_measured_in_the_direction_of_travel():
    assert check(tsp(), Solution([[0, 1, 2]])).objective == 6
    assert check(tsp(), Solution([[1, 2, 0]])).objective == 6
    assert check(tsp(), Solution([[2, 1, 0]])).objective == 60
    assert tsp().tour_length([0, 1]) == 1 + 10
    assert tsp().lengths(np.array([0, 1]), np.array([1, 0])).tolist() == [1, 10]


def test_routes_are_measured_in_the_direction_of_travel():
    assert check(cvrp(), Solution([[1, 2]])).objective == 6
    assert check(cvrp(), Solution([[2, 1]])).objective == 60
    assert check(cvrp(), Solution([[1], [2]])).objective == 11 + 33


def test_rollouts_are_measured_in_the_direction_of_travel():
    there, back = [0, 1, 2], [2, 1, 0]
    assert tsp().problem.objectives(tsp(), np.array([there, back])).tolist() == [6, 60]
    actions = np.array([[1, 2, 0], [2, 1, 0], [1, 0, 2]])
    assert cvrp().problem.objectives(cvrp(), actions).tolist() == [6, 60, 11 + 33]


def test_who_is_directed():
    assert tsp().is_directed
    assert cvrp().is_directed
    assert not tsp(ROUND + ROUND.T).is_directed
    assert not Tsp(coords=PLACES).is_directed
    assert pickle.loads(pickle.dumps(tsp())).is_directed
    part = Tsp(**tsp().geometry(np.array([2, 0])))
    assert part.is_directed
    assert part.matrix.tolist() == [[0, 3], [30, 0]]


@pytest.mark.parametrize("problem", ["pctsp", "op"])
def test_pctsp_and_op_need_symmetric_lengths(problem):
    def build(matrix):
        common = {"matrix": matrix, "metric": EXPLICIT, "prize": [0, 1, 1]}
        if problem == "op":
            return Op(**common, max_length=9)
        return Pctsp(**common, penalty=[0, 1, 1])

    sentence = f"the matrix of lengths is not symmetric, which {problem} needs."
    with pytest.raises(InputError) as caught:
        build(ROUND)
    assert str(caught.value) == sentence
    assert not build(ROUND + ROUND.T).is_directed


def test_noise_of_rounding_is_no_direction():
    symmetric = (ROUND + ROUND.T) / 7
    noisy = symmetric * (1 + 1e-12 * np.triu(np.ones((3, 3))))
    assert not np.array_equal(noisy, noisy.T)
    instance = tsp(noisy)
    assert not instance.is_directed
    assert np.array_equal(instance.matrix, instance.matrix.T)
    assert np.allclose(instance.matrix, symmetric, rtol=1e-11)
    assert Op(matrix=noisy, metric=EXPLICIT, prize=[0, 1, 1], max_length=9).size == 2


@pytest.mark.parametrize("large", [1.0, 1e11])
def test_a_small_difference_is_a_difference(large):
    """Next to huge lengths, too, which stand for ways that do not exist."""
    matrix = np.full((3, 3), large)
    matrix[0, 1], matrix[1, 0] = 1, 1 + 1e-6
    assert tsp(matrix).is_directed
    assert tsp(matrix).matrix[1, 0] == 1 + 1e-6


def test_the_diagonal_is_nothing():
    lengths = ROUND + 99 * np.eye(3)
    assert tsp(lengths).matrix.tolist() == ROUND.tolist()
    assert tsp(lengths).is_directed


@pytest.mark.parametrize("build", [tsp, cvrp])
def test_no_network_sees_directions(build):
    instance = build(coords=PLACES)
    reason = "lengths that differ by direction are beyond the networks"
    assert instance.problem.why_no_network(instance) == reason
    with pytest.raises(InputError) as caught:
        Batch.of([instance])
    assert str(caught.value) == f"{reason}."
    plain = build(ROUND + ROUND.T, coords=PLACES)
    assert plain.problem.why_no_network(plain) is None
    assert Batch.of([plain]).num_nodes == 3
