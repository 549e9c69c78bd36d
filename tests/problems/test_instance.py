"""Instances that are made of plain data, without a file."""

import numpy as np
import pytest

import metasage

SQUARE = [[0, 0], [0, 3], [4, 3], [4, 0]]


def test_lists_and_arrays_make_the_same_instance():
    of_lists = metasage.Cvrp(coords=SQUARE, demand=[0, 1, 2, 3], capacity=4)
    arrays = metasage.Cvrp(
        coords=np.array(SQUARE), demand=np.array([0, 1, 2, 3]), capacity=np.int64(4)
    )
    routes = metasage.Solution([[1, 2], [3]])
    assert metasage.check(of_lists, routes) == metasage.check(arrays, routes)
    assert metasage.check(of_lists, routes).objective == 3 + 4 + 5 + 4 + 4


def test_a_matrix_needs_no_metric():
    instance = metasage.Tsp(matrix=[[0, 1, 9], [9, 0, 1], [1, 9, 0]])
    assert instance.metric.name == "EXPLICIT"
    assert metasage.check(instance, metasage.Solution([[0, 1, 2]])).objective == 3
    assert metasage.check(instance, metasage.Solution([[0, 2, 1]])).objective == 27


def test_prizes_of_plain_data():
    tour = metasage.Op(coords=SQUARE, prize=[0, 1, 1, 5], max_length=8)
    assert metasage.check(tour, metasage.Solution([[3]])).objective == 5
    loop = metasage.Pctsp(coords=SQUARE, prize=[0, 1, 1, 1], penalty=[0, 7, 7, 7], min_prize=1)
    assert metasage.check(loop, metasage.Solution([[3]])).objective == 8 + 14


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: metasage.Instance(coords=SQUARE), "make a Tsp, Cvrp, Pctsp or Op"),
        (lambda: metasage.Tsp(coords=7), "a row for each node"),
        (lambda: metasage.Tsp(coords="abcd"), "not all numbers"),
        (lambda: metasage.Tsp(matrix=3.5), "a row for each node"),
        (lambda: metasage.Tsp(matrix=[[0, 1], [2]]), "not all numbers"),
        (lambda: metasage.Tsp(), "coordinates or a matrix"),
        (lambda: metasage.Cvrp(coords=SQUARE, demand=[1, 2], capacity=4), "shape"),
        (lambda: metasage.Cvrp(coords=SQUARE, demand=[0, 1, 2, 3], capacity="x"), "numbers"),
    ],
)
def test_what_is_wrong_is_one_sentence(make, sentence):
    with pytest.raises(metasage.InputError, match=sentence):
        make()


def test_an_instance_shows_itself_in_a_line():
    assert repr(metasage.Tsp(coords=SQUARE, name="square")) == "<tsp 'square' of 4 nodes>"
    assert repr(metasage.Cvrp(coords=SQUARE, demand=[0, 1, 1, 1], capacity=3)) == (
        "<cvrp of 3 nodes>"
    )


def test_a_written_solution_has_the_checkers_objective(tmp_path):
    instance = metasage.Cvrp(coords=SQUARE, demand=[0, 1, 2, 3], capacity=4)
    metasage.write_solution(tmp_path / "a.sol", instance, metasage.Solution([[1, 2], [3]]))
    assert "Cost 20" in (tmp_path / "a.sol").read_text()
    with pytest.raises(metasage.InputError, match="node 9 does not exist"):
        metasage.write_solution(tmp_path / "b.sol", instance, metasage.Solution([[9]]))
    assert not (tmp_path / "b.sol").exists()


def test_nothing_of_an_instance_can_be_written_to():
    (instance,) = metasage.generate("cvrp", 5, 1, 1)
    for array in (instance.labels, instance.coords, instance.demand):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 3


def test_an_odd_name_is_shown_with_escapes():
    assert (
        repr(metasage.Tsp(coords=[[0, 0]], name="a\ud800\x1b"))
        == "<tsp 'a\\ud800\\x1b' of 1 nodes>"
    )
