"""OPLib: scores, the depot, and solutions."""

import pytest

from metasage.errors import InputError
from metasage.io import read, read_instance, read_solution
from metasage.problems import check

SMALL = """\
NAME : small
TYPE : OP
DIMENSION: 4
COST_LIMIT : 12
TSPSOL : 14
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 3 0
3 3 4
4 0 4
NODE_SCORE_SECTION
1 2
2 5
3 7
4 3
DEPOT_SECTION
1
-1
EOF
"""
SOLUTION = """\
NAME : small
TYPE : OP
DIMENSION : 4
COST_LIMIT : 12
ROUTE_NODES : 3
ROUTE_SCORE : 14
ROUTE_COST : 12
NODE_SEQUENCE_SECTION
1
2
3
-1
DEPOT_SECTION
1
-1
EOF
"""


def test_fields_of_an_instance(save):
    instance = read_instance(save(SMALL))
    assert instance.problem.name == "op"
    assert instance.max_length == 12
    assert instance.prize.tolist() == [2, 5, 7, 3]


def test_the_depot_is_the_first_node_unless_named(save):
    assert read_instance(save(SMALL.replace("DEPOT_SECTION\n1\n-1\n", ""))).labels[0] == 1
    instance = read_instance(save(SMALL.replace("SECTION\n1\n-1", "SECTION\n4\n-1")))
    assert instance.labels.tolist() == [4, 1, 2, 3]
    assert instance.prize.tolist() == [3, 2, 5, 7]


def test_a_solution_has_its_stated_score(save):
    instance = read_instance(save(SMALL))
    stated = read(save(SOLUTION, "s"))
    assert stated.objective == 14
    solution = stated.resolve(instance)
    assert solution.routes == ((1, 2),)
    # 3 + 4 + 5 long, and the depot's score of 2 counts.
    assert check(instance, solution).objective == 14
    assert check(instance, solution).feasible


def test_a_tour_of_the_depot_alone(save):
    text = "TYPE: OP\nNODE_SEQUENCE_SECTION\n1 -1\n"
    assert read_solution(save(text, "s"), read_instance(save(SMALL))).routes == ((),)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (SMALL.replace("COST_LIMIT : 12\n", ""), None, "COST_LIMIT is missing"),
        (SMALL.replace("LIMIT : 12", "LIMIT : -1"), None, "max_length holds a negative"),
        (SMALL.replace("3 7\n", ""), 12, "NODE_SCORE_SECTION lacks node 3"),
        (SMALL.replace("3 7", "3 -7"), 15, "a score is negative"),
        (SOLUTION.replace("2\n3", "2\n9"), 11, "node 9 does not exist in small"),
        (SOLUTION.replace("NODES : 3", "NODES : 4"), 8, "has 3 nodes, and ROUTE_NODES says 4"),
        (SOLUTION.replace("1\n2\n3\n-1", "2\n3\n1\n-1"), None, "does not start at the depot 1"),
        (SOLUTION.replace("SCORE : 14", "SCORE : much"), 6, "ROUTE_SCORE is 'much'"),
        (SOLUTION.replace("-1\nDEPOT", "-1\n4\nDEPOT"), 13, "4 follows the -1"),
    ],
)
def test_refused(save, text, line, message):
    instance = read_instance(save(SMALL, "small"))
    path = save(text, "other")
    with pytest.raises(InputError) as caught:
        read_instance(path) if "NODE_COORD" in text else read_solution(path, instance)
    assert message in str(caught.value)
    assert caught.value.line == line
