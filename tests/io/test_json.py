"""Our own JSON: instances key by key, and solutions."""

import json

import pytest

from metasage.errors import InputError
from metasage.io import read, read_instance, read_solution

PLACES = [[0, 0], [3, 0], [3, 4]]
TSP = {"problem": "tsp", "coords": PLACES}
CVRP = {**TSP, "problem": "cvrp", "demand": [0, 2, 3], "capacity": 4}
OP = {**TSP, "problem": "op", "prize": [0, 2, 3], "max_length": 10.5}
PCTSP = {**TSP, "problem": "pctsp", "prize": [0, 2, 3], "penalty": [0, 1, 0.5], "min_prize": 4}


def test_least_instance(save):
    instance = read_instance(save(json.dumps(TSP), "three.json"))
    assert instance.name == "three"
    assert instance.metric.name == "EXACT_2D"
    assert instance.labels.tolist() == [0, 1, 2]
    assert instance.length_matrix()[0].tolist() == [0, 3, 5]


def test_fields_of_each_problem(save):
    cvrp = read_instance(save(json.dumps(CVRP)))
    assert (cvrp.demand.tolist(), cvrp.capacity) == ([0, 2, 3], 4)
    op = read_instance(save(json.dumps(OP)))
    assert (op.prize.tolist(), op.max_length) == ([0, 2, 3], 10.5)
    pctsp = read_instance(save(json.dumps(PCTSP)))
    assert (pctsp.prize.tolist(), pctsp.penalty.tolist()) == ([0, 2, 3], [0, 1, 0.5])
    assert pctsp.min_prize == 4


def test_min_prize_is_1_if_not_given(save):
    content = {key: value for key, value in PCTSP.items() if key != "min_prize"}
    assert read_instance(save(json.dumps(content))).min_prize == 1


def test_metric_rounding_labels_and_name(save):
    content = {**TSP, "metric": "MAN_2D", "rounding": "down", "labels": [7, 5, 9], "name": "x"}
    instance = read_instance(save(json.dumps(content | {"coords": [[0, 0], [1.4, 1.5], [0, 1]]})))
    assert instance.length_matrix()[0].tolist() == [0, 2, 1]
    assert instance.labels.tolist() == [7, 5, 9]
    assert instance.name == "x"


def test_matrix_with_and_without_places(save):
    matrix = [[0, 1, 2], [1, 0, 9], [2, 9, 0]]
    bare = read_instance(save(json.dumps({"problem": "tsp", "matrix": matrix, "coords": None})))
    assert bare.coords is None
    assert bare.length_matrix().tolist() == matrix
    both = read_instance(save(json.dumps({**TSP, "matrix": matrix})))
    assert both.coords.tolist() == PLACES
    assert both.length_matrix().tolist() == matrix


def test_the_problem_may_be_given_instead(save):
    path = save(json.dumps({"coords": PLACES}))
    assert read_instance(path, problem="tsp").size == 3
    with pytest.raises(InputError, match="'problem' is missing"):
        read(path)


def changed(content: dict, **changes: object) -> str:
    return json.dumps({**content, **changes})


REFUSED = {
    "not JSON": ('{"problem": "tsp",\n "coords": [[0, 0}', 2, "this is not JSON"),
    "half": ('{"problem"', 1, "this is not JSON"),
    "a list": ("[1, 2]", None, "a JSON object was expected"),
    "not UTF-8": (b'{"name": "\xff"}', None, "not encoded as UTF-8"),
    "NaN": ('{"problem": "tsp", "coords": [[NaN, 1]]}', None, "NaN is not a finite number"),
    "Infinity": ('{"problem": "tsp", "coords": [[-Infinity, 1]]}', None, "-Infinity is not"),
    "overflow": ('{"problem": "tsp", "coords": [[1e999, 1]]}', None, "not a finite number"),
    "huge": ('{"problem": "tsp", "coords": [[%s, 1]]}' % ("9" * 400), None, "too large"),
    "endless": ('{"problem": "tsp", "coords": [[%s, 1]]}' % ("9" * 5000), None, "too many digits"),
    "deep": ('{"a": ' + "[" * 100_000, None, "nested too deeply"),
    "deep list": (
        '{"problem":"tsp","coords":' + "[" * 500 + "1" + "]" * 500 + "}",
        None,
        "'coords'",
    ),
    "twice": ('{"problem": "tsp", "problem": "op"}', None, "the key 'problem' comes twice"),
    "unknown key": (changed(TSP, capacity=3), None, "the key 'capacity' is not known; tsp has"),
    "no places": ('{"problem": "tsp"}', None, "needs coordinates or a matrix"),
    "no demand": (changed(TSP, problem="cvrp", capacity=1), None, "the key 'demand' is missing"),
    "problem": (changed(TSP, problem="vrp"), None, "problem 'vrp' is not one of"),
    "problem 3": (changed(TSP, problem=3), None, "'problem' is not a string"),
    "name": (changed(TSP, name=[]), None, "'name' is not a string"),
    "metric": (changed(TSP, metric="XRAY1"), None, "the metric 'XRAY1' is not one of"),
    "rounding": (changed(TSP, rounding="half"), None, "rounding 'half' is not one of"),
    "fixed": (changed(TSP, metric="GEO", rounding="up"), None, "lengths of GEO are fixed"),
    "explicit": (changed(TSP, metric="EXPLICIT"), None, "go together"),
    "string": (changed(TSP, coords=[["1", 2]]), None, "'1' in 'coords' is not a number"),
    "true": (changed(TSP, coords=[[True, 2]]), None, "'True' in 'coords' is not a number"),
    "null": (changed(TSP, coords=[[None, 2]]), None, "'None' in 'coords' is not a number"),
    "object": (changed(TSP, coords=[{}]), None, "an object in 'coords' is not a number"),
    "scalar": (changed(TSP, coords=3), None, "'coords' is not a list of lists"),
    "empty": (changed(TSP, coords=[]), None, "coords has the shape (0,)"),
    "3-D": (changed(TSP, coords=[[1, 2, 3]]), None, "coords has the shape (1, 3)"),
    "ragged": (changed(TSP, coords=[[1, 2], [3]]), None, "do not all have the same length"),
    "matrix": (
        changed(OP, matrix=[[0, 1, 2], [1, 0, 3], [2, 4, 0]]),
        None,
        "not symmetric, which op needs",
    ),
    "vehicles": (changed(CVRP, vehicles=0), None, "vehicles is 0 and must be a whole number"),
    "two vehicles": (changed(CVRP, vehicles=[2]), None, "vehicles has the shape (1,)"),
    "few vehicles": (changed(CVRP, vehicles="few"), None, "'few' in 'vehicles' is not a number"),
    "no vehicles": (changed(TSP, vehicles=2), None, "the key 'vehicles' is not known; tsp has"),
    "length 0": (changed(CVRP, max_route_length=0), None, "max_route_length is 0 and must be"),
    "service": (changed(CVRP, service_time=-1), None, "service_time holds a negative value"),
    "services": (changed(CVRP, service_time=[0, 1]), None, "service_time has the shape (2,)"),
    "depot's": (changed(CVRP, service_time=[1, 1, 1]), None, "the depot has a service time of 1"),
    "two sizes": (changed(TSP, matrix=[[0, 1], [1, 0]]), None, "a matrix of 2 nodes"),
    "demands": (changed(CVRP, demand=[0, 1]), None, "demand has the shape (2,) and not (3,)"),
    "negative": (changed(CVRP, demand=[0, 1, -1]), None, "demand holds a negative value"),
    "capacity": (changed(CVRP, capacity=[4]), None, "capacity has the shape (1,)"),
    "capacity 0": (changed(CVRP, capacity=0), None, "capacity is 0 and must be positive"),
    "labels": (changed(TSP, labels=[1, 1, 2]), None, "every node needs a number of its own"),
    "label 1.5": (changed(TSP, labels=[1, 1.5, 2]), None, "not a node number"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(save, case):
    text, line, message = REFUSED[case]
    path = save(text, "file.json")
    with pytest.raises(InputError) as caught:
        read(path)
    assert message in str(caught.value)
    assert caught.value.line == line
    assert str(path) in str(caught.value)


def test_a_contradicted_problem(save):
    with pytest.raises(InputError, match="an instance of 'cvrp', and op was asked for"):
        read(save(json.dumps(CVRP)), problem="op")


def test_solutions_have_the_numbers_of_the_file(save):
    instance = read_instance(save(json.dumps({**CVRP, "labels": [10, 30, 20]})))
    text = json.dumps({"routes": [[20], [30]], "objective": 16, "seconds": 1.5, "engine": "none"})
    stated = read(save(text, "s.json"))
    assert stated.objective == 16
    assert stated.resolve(instance).routes == ((2,), (1,))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"routes": 3}, "'routes' is not a list of lists"),
        ({"routes": [1, 2]}, "'routes' is not a list of lists"),
        ({"routes": [["1"]]}, "'1' in 'routes' is not a node number"),
        ({"routes": [[1.0]]}, "'1.0' in 'routes' is not a node number"),
        ({"routes": [[True]]}, "'True' in 'routes' is not a node number"),
        ({"routes": [[9]]}, "node 9 does not exist"),
        ({"routes": [[1, 2]], "objective": "small"}, "the objective is 'small'"),
        ({"routes": [[1, 2]], "objective": [1]}, "the objective is a list"),
        (
            {"routes": [[1, 2]], "problem": "op"},
            "a solution of op, and the instance is one of cvrp",
        ),
        ({"routes": [[1, 2]], "problem": 1}, "'problem' is not a string"),
    ],
)
def test_refused_solutions(save, content, message):
    instance = read_instance(save(json.dumps(CVRP), "i.json"))
    path = save(json.dumps(content), "s.json")
    with pytest.raises(InputError) as caught:
        read_solution(path, instance)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
