"""Files with limits on routes, and with lengths that differ by direction."""

import json

import pytest

from metasage.errors import InputError
from metasage.io import read, read_instance, read_solution
from metasage.problems import check

from .small_files import SMALL

TIMES = "SERVICE_TIME_SECTION\n3 2.5\n1 0\n2 1\n4 0\nEOF"
# The way there and the way back: 1 -> 2 -> 3 -> 1 is 1 + 2 + 3, and back 30 + 20 + 10.
DIRECTED = """\
NAME : one-way
TYPE : ATSP
DIMENSION : 3
EDGE_WEIGHT_TYPE : EXPLICIT
EDGE_WEIGHT_FORMAT : FULL_MATRIX
EDGE_WEIGHT_SECTION
9999 1 30
10 9999 2
3 20 9999
EOF
"""
SYMMETRIC = DIRECTED.replace("30", "3").replace("10 9", "1 9").replace("20", "2")


def as_op(text: str) -> str:
    """Turn a file of the TSP into one of the OP."""
    text = text.replace("ATSP", "OP\nCOST_LIMIT: 9")
    return text.replace("EOF", "NODE_SCORE_SECTION\n1 0\n2 1\n3 1\nEOF")


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("VEHICLES : 3", "vehicles", 3),
        ("vehicles: 3.0", "vehicles", 3),
        ("VEHICLES 3", "vehicles", 3),
        ("VEHICLES : 0", "vehicles", None),
        ("VEHICLES :", "vehicles", None),
        ("COMMENT : (No of trucks: 3)", "vehicles", None),
        ("DISTANCE : 200", "max_route_length", 200),
        ("DISTANCE : 12.5", "max_route_length", 12.5),
        ("DISTANCE : 0", "max_route_length", None),
        ("DISTANCE : inf", "max_route_length", None),
        ("DISTANCE : Infinity", "max_route_length", None),
        ("DISTANCE : 1e30", "max_route_length", None),
        ("SERVICE_TIME : 0", "service_time", None),
    ],
)
def test_keys_of_limits(save, line, field, value):
    instance = read_instance(save(f"{line}\n{SMALL}"))
    assert getattr(instance, field) == value
    assert instance.is_limited == (value is not None)


def test_service_times(save):
    assert read_instance(save(SMALL)).service_time is None
    one = read_instance(save("SERVICE_TIME : 10\n" + SMALL))
    assert one.service_time.tolist() == [0, 10, 10, 10]
    assert not one.is_limited
    many = read_instance(save(SMALL.replace("EOF", TIMES)))
    assert many.service_time.tolist() == [0, 1, 2.5, 0]


def test_service_times_follow_the_depot(save):
    text = SMALL.replace("1 0\n2 5\n3 6", "1 6\n2 5\n3 0").replace("\n1\n-1", "\n3\n-1")
    one = read_instance(save("SERVICE_TIME : 10\n" + text))
    assert (one.labels[0], one.service_time.tolist()) == (3, [0, 10, 10, 10])
    times = TIMES.replace("3 2.5\n1 0", "3 0\n1 2.5")
    many = read_instance(save(text.replace("EOF", times)))
    assert many.labels.tolist() == [3, 1, 2, 4]
    assert many.service_time.tolist() == [0, 2.5, 1, 0]


@pytest.mark.parametrize(
    ("head", "violation"),
    [
        ("VEHICLES : 2\nDISTANCE : 32\nSERVICE_TIME : 10\n", None),
        ("VEHICLES : 1\n", "there are 2 routes with customers and 1 vehicle."),
        ("DISTANCE : 31\nSERVICE_TIME : 10\n", "route 1 takes 32 of 31."),
    ],
)
def test_a_solution_is_held_to_what_the_file_says(save, head, violation):
    # Routes of 3 + 5 + 4 and 5 + 5, with 20 and 10 more to serve.
    instance = read_instance(save(head + SMALL))
    solution = read_solution(save("Route #1: 1 3\nRoute #2: 2\n", "s"), instance)
    assert check(instance, solution).violation == violation


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("VEHICLES : 2.5\n" + SMALL, 1, "VEHICLES is '2.5', and a positive integer was expected"),
        ("VEHICLES : few\n" + SMALL, 1, "VEHICLES is 'few', and a number was expected"),
        ("VEHICLES : -1\n" + SMALL, 1, "VEHICLES is negative"),
        ("VEHICLES : 2\nVEHICLES : 3\n" + SMALL, 2, "VEHICLES has another value on line 1"),
        ("DISTANCE : far\n" + SMALL, 1, "DISTANCE is 'far', and a number was expected"),
        ("DISTANCE : -5\n" + SMALL, 1, "DISTANCE is negative"),
        ("SERVICE_TIME : -5\n" + SMALL, 1, "SERVICE_TIME is negative"),
        ("SERVICE_TIME : inf\n" + SMALL, 1, "SERVICE_TIME is 'inf', and a number was expected"),
        ("SERVICE_TIME : 5\n" + SMALL.replace("EOF", TIMES), 1, "SERVICE_TIME is given, and"),
        (SMALL.replace("EOF", TIMES.replace("2 1\n", "")), 19, "SERVICE_TIME_SECTION lacks node 2"),
        (SMALL.replace("EOF", TIMES.replace("2 1", "2 -1")), 22, "a service time is negative"),
        (SMALL.replace("EOF", TIMES.replace("1 0", "1 3")), 21, "the depot 1 has the service time"),
    ],
)
def test_refused_limits(save, text, line, message):
    with pytest.raises(InputError) as caught:
        read(save(text))
    assert message in caught.value.message
    assert caught.value.line == line


def test_json_limits(save):
    content = {
        "problem": "cvrp",
        "coords": [[0, 0], [3, 0], [3, 4]],
        "demand": [0, 2, 3],
        "capacity": 4,
        "vehicles": 2,
        "max_route_length": 11.5,
        "service_time": 0.5,
    }
    instance = read_instance(save(json.dumps(content)))
    assert (instance.vehicles, instance.max_route_length) == (2, 11.5)
    assert instance.service_time.tolist() == [0, 0.5, 0.5]
    listed = read_instance(save(json.dumps(content | {"service_time": [0, 1, 2]})))
    assert listed.service_time.tolist() == [0, 1, 2]
    nothing = dict.fromkeys(("vehicles", "max_route_length", "service_time"))
    plain = read_instance(save(json.dumps(content | nothing)))
    assert not plain.is_limited
    assert plain.service_time is None


def test_a_directed_tour_is_measured_by_direction(save):
    instance = read_instance(save(DIRECTED))
    assert instance.problem.name == "tsp"
    assert instance.is_directed
    assert instance.length_matrix().tolist() == [[0, 1, 30], [10, 0, 2], [3, 20, 0]]
    for nodes, length in (("1 2 3", 6), ("3 1 2", 6), ("3 2 1", 60)):
        tour = save(f"TYPE: TOUR\nTOUR_SECTION\n{nodes} -1\n", "t")
        assert check(instance, read_solution(tour, instance)).objective == length


def test_the_type_need_not_say_so(save):
    assert read_instance(save(DIRECTED.replace("ATSP", "TSP"))).is_directed
    assert not read_instance(save(SYMMETRIC)).is_directed
    matrix = [[0, 1, 30], [10, 0, 2], [3, 20, 0]]
    assert read_instance(save(json.dumps({"problem": "tsp", "matrix": matrix}))).is_directed


@pytest.mark.parametrize("kind", ["ACVRP", "CVRP", "VRP"])
def test_directed_routes_and_the_depot(save, kind):
    text = DIRECTED.replace("ATSP", f"{kind}\nCAPACITY: 9").replace(
        "EOF", "DEMAND_SECTION\n1 4\n2 0\n3 5\nDEPOT_SECTION\n2\n-1\nEOF"
    )
    instance = read_instance(save(text))
    assert (instance.problem.name, instance.labels.tolist()) == ("cvrp", [2, 1, 3])
    assert instance.is_directed
    # From the depot 2 to 3, to 1 and home: 2 + 3 + 1.
    for route, length in (("2 1", 6), ("1 2", 60)):
        found = read_solution(save(f"Route #1: {route}\n", "s"), instance)
        assert check(instance, found).objective == length


@pytest.mark.parametrize("kind", [str, as_op])
def test_noise_of_rounding_is_taken_out(save, kind):
    noisy = SYMMETRIC.replace("9999 1 3", "9999 1 3.0000000000001")
    instance = read_instance(save(kind(noisy)))
    assert not instance.is_directed
    lengths = instance.length_matrix()
    assert lengths[0, 2] == lengths[2, 0] == pytest.approx(3, rel=1e-12)


def test_an_op_is_not_directed(save):
    assert read_instance(save(as_op(SYMMETRIC))).size == 2
    with pytest.raises(InputError) as caught:
        read(save(as_op(DIRECTED)))
    assert "not symmetric: row 1 has 1 at 2, and row 2 has 10 at 1" in caught.value.message
    assert caught.value.line == 8


@pytest.mark.parametrize("problem", ["pctsp", "op"])
def test_json_of_the_others_is_not_directed(save, problem):
    more = {"op": {"max_length": 9}, "pctsp": {"penalty": [0, 1, 1]}}[problem]
    content = {"problem": problem, "matrix": [[0, 1, 30], [10, 0, 2], [3, 20, 0]]}
    path = save(json.dumps(content | {"prize": [0, 1, 1]} | more))
    with pytest.raises(InputError, match=f"not symmetric, which {problem} needs") as caught:
        read(path)
    assert caught.value.path == path
