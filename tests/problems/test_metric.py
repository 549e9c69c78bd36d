import math

import numpy as np
import pytest

from metasage.errors import InputError
from metasage.problems.metric import METRICS


def length(name, a, b):
    return float(METRICS[name].between(np.array(a, float), np.array(b, float)))


@pytest.mark.parametrize(
    ("name", "a", "b", "expected"),
    [
        ("EUC_2D", (0, 0), (1, 2), 2),  # 2.236
        ("EUC_2D", (0, 0), (2, 2), 3),  # 2.828
        ("EUC_2D", (0, 0), (0, 2.5), 3),  # a half goes up
        ("CEIL_2D", (0, 0), (1, 2), 3),
        ("FLOOR_2D", (0, 0), (2, 2), 2),
        ("EXACT_2D", (0, 0), (1, 2), math.sqrt(5)),
        ("MAN_2D", (0, 0), (1, -2), 3),
        ("MAX_2D", (0, 0), (1, -2), 2),
        ("ATT", (0, 0), (10, 0), 4),  # sqrt(10) = 3.16 rounds to 3, which is below it
        ("ATT", (0, 0), (0, 12), 4),  # 3.79 rounds to 4
    ],
)
def test_hand_computed_lengths(name, a, b, expected):
    assert length(name, a, b) == expected


def test_geo_agrees_with_the_formula_of_tsplib():
    def radians(value):
        degrees = int(value)
        return 3.141592 * (degrees + 5.0 * (value - degrees) / 3.0) / 180.0

    a, b = (16.47, 96.10), (-7.38, -14.55)
    (la, oa), (lb, ob) = ([radians(v) for v in point] for point in (a, b))
    q1, q2, q3 = math.cos(oa - ob), math.cos(la - lb), math.cos(la + lb)
    expected = int(6378.388 * math.acos(0.5 * ((1 + q1) * q2 - (1 - q1) * q3)) + 1.0)
    assert length("GEO", a, b) == expected


def test_rounding_can_be_overridden_where_it_is_not_part_of_the_metric():
    metric = METRICS["EUC_2D"].rounded("none")
    assert float(metric.between(np.zeros(2), np.array([1.0, 2.0]))) == math.sqrt(5)
    with pytest.raises(InputError, match="GEO"):
        METRICS["GEO"].rounded("none")
    with pytest.raises(InputError, match="sideways"):
        METRICS["EUC_2D"].rounded("sideways")


def test_a_node_is_no_way_from_itself_even_by_geo():
    from metasage.problems.tsp import Tsp

    instance = Tsp(coords=[[10.0, 20.0], [10.0, 20.0]], metric=METRICS["GEO"])
    nodes = np.array([0, 1])
    assert instance.lengths(nodes, nodes).tolist() == [0.0, 0.0]
    assert instance.lengths(nodes, nodes[::-1]).tolist() == [1.0, 1.0]
