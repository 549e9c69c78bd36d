import numpy as np
import pytest

from metasage.errors import InputError
from metasage.problems.batch import Batch, unit_square
from metasage.problems.metric import EXPLICIT
from metasage.problems.op import Op
from metasage.problems.pctsp import Pctsp
from metasage.problems.sets import generate
from metasage.problems.tsp import Tsp


def test_files_are_scaled_alike_on_both_axes():
    places, scale = unit_square(Tsp(coords=[[100, 50], [300, 50], [200, 100]]))
    assert scale == 200
    assert np.allclose(places, [[0, 0], [1, 0], [0.5, 0.25]])


def test_sets_in_the_unit_square_are_left_alone():
    instance = generate("tsp", 50, 1, seed=3)[0]
    places, scale = unit_square(instance)
    assert scale == 1
    assert np.array_equal(places, instance.coords)


def test_equal_places_do_not_divide_by_zero():
    places, scale = unit_square(Tsp(coords=[[5, 5]] * 3))
    assert scale == 1
    assert np.array_equal(places, np.zeros((3, 2)))


def test_an_instance_without_places_is_refused():
    matrix = np.ones((3, 3)) - np.eye(3)
    instance = Tsp(matrix=matrix, metric=EXPLICIT, name="abstract")
    with pytest.raises(InputError, match="abstract has no coordinates"):
        unit_square(instance)


def test_rewards_do_not_depend_on_the_units_of_a_file():
    def network_view(unit):
        coords = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]]) * unit
        pctsp = Pctsp(
            coords=coords, prize=[0, 3, 4, 5], penalty=np.array([0, 1, 2, 3]) * unit, min_prize=6
        )
        op = Op(coords=coords, prize=[0, 10, 20, 5], max_length=3.0 * unit)
        return [Batch.of([pctsp]), Batch.of([op])]

    for small, large in zip(network_view(1.0), network_view(1000.0), strict=True):
        assert small.features.allclose(large.features)
        assert small.features.abs().max() <= 3.0
        fresh = [batch.problem.rules(batch, 1).scalar() for batch in (small, large)]
        assert fresh[0].allclose(fresh[1])


def test_instances_of_different_sizes_do_not_form_a_batch():
    with pytest.raises(InputError, match="one size"):
        Batch.of([generate("tsp", 5)[0], generate("tsp", 6)[0]])
