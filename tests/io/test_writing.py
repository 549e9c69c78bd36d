"""What is written is read again, exactly."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metasage.errors import InputError
from metasage.io import read, read_instance, read_solution, write_instance, write_solution
from metasage.problems import Instance, Solution, all_problems, check
from metasage.problems.cvrp import Cvrp
from metasage.problems.metric import EXPLICIT, METRICS
from metasage.problems.op import Op
from metasage.problems.pctsp import Pctsp
from metasage.problems.sets import generate
from metasage.problems.tsp import Tsp

COORDS = np.array([[0.1, 1 / 3], [-3, 4e-7], [12345.678901234567, 5], [0, 7], [2, 2]])
MATRIX = np.round(np.abs(COORDS[:, None, 0] - COORDS[None, :, 0]), 3)
DIRECTED = MATRIX + np.triu(np.ones((5, 5)), 1) / 3
BUILDERS = {
    "tsp": lambda **more: Tsp(**more),
    "cvrp": lambda **more: Cvrp(demand=[0, 1, 2.5, 0, 4], capacity=7.5, **more),
    "op": lambda **more: Op(prize=[1, 0.1, 2, 3, 0], max_length=math.pi, **more),
    "pctsp": lambda **more: Pctsp(
        prize=[0, 1, 2, 3, 4.25], penalty=[0, 0.1, 0.2, 0.3, 1e-9], min_prize=2.5, **more
    ),
}
SUFFIXES = {"tsp": ".tsp", "cvrp": ".vrp", "op": ".oplib"}
FORMATS = [(p, s) for p in BUILDERS for s in (SUFFIXES.get(p), ".json") if s]


def assert_equal(a: Instance, b: Instance) -> None:
    assert type(a) is type(b)
    for field in dataclasses.fields(a):
        left, right = getattr(a, field.name), getattr(b, field.name)
        if isinstance(left, np.ndarray):
            np.testing.assert_array_equal(left, right, strict=True, err_msg=field.name)
        else:
            assert left == right, field.name


@pytest.mark.parametrize("metric", [name for name in METRICS if name != "EXPLICIT"])
@pytest.mark.parametrize(("problem", "suffix"), FORMATS)
def test_instances_with_places(tmp_path, problem, suffix, metric):
    path = tmp_path / f"file{suffix}"
    instance = BUILDERS[problem](
        coords=COORDS, metric=METRICS[metric], labels=[7, 3, 9, 1, 20], name="an instance"
    )
    write_instance(path, instance)
    assert_equal(read_instance(path), instance)


@pytest.mark.parametrize("coords", [None, COORDS])
@pytest.mark.parametrize("labels", [[1, 2, 3, 4, 5], [3, 1, 2, 4, 5]])
@pytest.mark.parametrize(("problem", "suffix"), FORMATS)
def test_instances_with_a_matrix(tmp_path, problem, suffix, labels, coords):
    if (problem, suffix) == ("tsp", ".tsp"):
        labels = sorted(labels)
    path = tmp_path / f"file{suffix}"
    instance = BUILDERS[problem](matrix=MATRIX, metric=EXPLICIT, coords=coords, labels=labels)
    write_instance(path, instance)
    assert_equal(read_instance(path), instance)


LIMITS = {
    "vehicles": {"vehicles": 3},
    "length": {"max_route_length": 100 / 3},
    "one time": {"max_route_length": 50, "service_time": 0.1},
    "many times": {"max_route_length": 50, "service_time": [0, 1, 1 / 3, 0, 2]},
    "no time": {"service_time": 0},
    "all": {"vehicles": 2, "max_route_length": 1e-3, "service_time": 7},
}


@pytest.mark.parametrize("matrix", [None, DIRECTED])
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("suffix", [".vrp", ".json"])
def test_limited_instances(tmp_path, suffix, limits, matrix):
    path = tmp_path / f"file{suffix}"
    places = {"coords": COORDS} if matrix is None else {"matrix": matrix, "metric": EXPLICIT}
    instance = BUILDERS["cvrp"](**places, **LIMITS[limits], labels=[3, 1, 2, 4, 5])
    write_instance(path, instance)
    assert_equal(read_instance(path), instance)


@pytest.mark.parametrize(("problem", "suffix"), [("tsp", ".tsp"), ("cvrp", ".vrp")])
def test_directed_instances(tmp_path, problem, suffix):
    instance = BUILDERS[problem](matrix=DIRECTED, metric=EXPLICIT, labels=[1, 2, 3, 4, 5])
    for path in (tmp_path / f"file{suffix}", tmp_path / "file.json"):
        write_instance(path, instance)
        again = read_instance(path)
        assert_equal(again, instance)
        assert again.is_directed
    text = (tmp_path / f"file{suffix}").read_text()
    assert f"TYPE : A{problem.upper()}\n" in text


def test_texts_of_limits(tmp_path):
    instance = BUILDERS["cvrp"](coords=COORDS, vehicles=3, max_route_length=40, service_time=2)
    write_instance(tmp_path / "a.vrp", instance)
    lines = (tmp_path / "a.vrp").read_text().splitlines()
    assert {"TYPE : CVRP", "VEHICLES : 3", "DISTANCE : 40", "SERVICE_TIME : 2"} <= set(lines)
    write_instance(tmp_path / "b.vrp", BUILDERS["cvrp"](coords=COORDS))
    plain = (tmp_path / "b.vrp").read_text()
    assert not any(key in plain for key in ("VEHICLES", "DISTANCE", "SERVICE"))
    write_instance(tmp_path / "b.json", BUILDERS["cvrp"](coords=COORDS))
    assert not {"vehicles", "max_route_length", "service_time"} & set(
        json.loads((tmp_path / "b.json").read_text())
    )


@pytest.mark.parametrize("problem", all_problems())
def test_generated_instances(tmp_path, problem):
    instance = generate(problem, size=8, count=1, seed=3)[0]
    for suffix in {SUFFIXES.get(problem, ".json"), ".json"}:
        write_instance(tmp_path / f"file{suffix}", instance)
        assert_equal(read_instance(tmp_path / f"file{suffix}"), instance)


@given(
    st.lists(
        st.tuples(*[st.floats(-1e12, 1e12, allow_subnormal=True)] * 2), min_size=1, max_size=5
    ),
    st.text(max_size=20),
)
def test_every_float_and_every_name(tmp_path_factory, places, name):
    folder = tmp_path_factory.mktemp("names")
    instance = Tsp(coords=places, name=name)
    write_instance(folder / "file.json", instance)
    assert_equal(read_instance(folder / "file.json"), instance)
    write_instance(folder / "file.tsp", instance)
    again = read_instance(folder / "file.tsp")
    np.testing.assert_array_equal(again.coords, instance.coords)
    assert "\n" not in again.name


@pytest.mark.parametrize(
    ("rounding", "name"),
    [("none", "EXACT_2D"), ("up", "CEIL_2D"), ("down", "FLOOR_2D"), ("nearest", "EUC_2D")],
)
def test_another_rounding_has_another_name(tmp_path, rounding, name):
    instance = Tsp(coords=COORDS, metric=METRICS["EUC_2D"].rounded(rounding))
    write_instance(tmp_path / "file.tsp", instance)
    again = read_instance(tmp_path / "file.tsp")
    assert again.metric is METRICS[name]
    np.testing.assert_array_equal(again.length_matrix(), instance.length_matrix())
    write_instance(tmp_path / "file.json", instance)
    assert_equal(read_instance(tmp_path / "file.json"), instance)


REFUSED = {
    "suffix": (BUILDERS["tsp"](coords=COORDS), ".txt", "'.txt' is not one of .tsp, .vrp, .oplib"),
    "no suffix": (BUILDERS["tsp"](coords=COORDS), "", "the suffix '' is not one of"),
    "pctsp": (BUILDERS["pctsp"](coords=COORDS), ".tsp", "instance of pctsp cannot be a .tsp file"),
    "wrong": (
        BUILDERS["cvrp"](coords=COORDS),
        ".oplib",
        "instance of cvrp cannot be a .oplib file",
    ),
    "rounding": (
        BUILDERS["tsp"](coords=COORDS, metric=METRICS["MAN_2D"].rounded("up")),
        ".tsp",
        "MAN_2D with the rounding 'up' have no EDGE_WEIGHT_TYPE",
    ),
    "labels": (
        BUILDERS["tsp"](coords=COORDS, labels=[-1, 0, 1, 2, 3]),
        ".tsp",
        "a node number is negative",
    ),
    "matrix from 0": (
        BUILDERS["tsp"](matrix=MATRIX, metric=EXPLICIT),
        ".tsp",
        "the nodes are not numbered from 1",
    ),
    "matrix with gaps": (
        BUILDERS["cvrp"](matrix=MATRIX, metric=EXPLICIT, labels=[1, 2, 3, 4, 9]),
        ".vrp",
        "the nodes are not numbered on end",
    ),
    "depot's demand": (
        Cvrp(coords=COORDS, demand=[1, 1, 1, 1, 1], capacity=3),
        ".vrp",
        "the depot has a demand",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_format_cannot_express(tmp_path, case):
    instance, suffix, message = REFUSED[case]
    path = tmp_path / f"file{suffix}"
    with pytest.raises(InputError) as caught:
        write_instance(path, instance)
    assert message in str(caught.value)
    assert caught.value.path == path
    assert not path.exists()


SOLUTIONS = {
    "tsp": [[2, 0, 1, 4, 3]],
    "cvrp": [[2, 1], [4, 3], []],
    "op": [[3, 1]],
    "pctsp": [[1, 4, 3]],
}


@pytest.mark.parametrize("labels", [None, [7, 3, 9, 1, 20]])
@pytest.mark.parametrize("problem", SOLUTIONS)
def test_solutions(tmp_path, problem, labels):
    instance = BUILDERS[problem](coords=COORDS, labels=labels)
    solution = Solution(SOLUTIONS[problem])
    objective = check(instance, solution).objective
    suffixes = {"tsp": ".tour", "cvrp": ".sol", "op": ".sol"}
    for suffix in {suffixes.get(problem, ".json"), ".json"}:
        path = tmp_path / f"file{suffix}"
        write_solution(path, instance, solution, objective)
        assert read_solution(path, instance) == solution
        if problem != "tsp" or suffix == ".json":
            assert read(path).objective == objective


def test_an_empty_tour(tmp_path):
    instance = BUILDERS["op"](coords=COORDS)
    for suffix in (".sol", ".json"):
        write_solution(tmp_path / f"file{suffix}", instance, Solution([[]]), 1.0)
        assert read_solution(tmp_path / f"file{suffix}", instance).routes == ((),)


def test_texts_of_solutions(tmp_path):
    cvrp = BUILDERS["cvrp"](coords=COORDS, labels=[5, 4, 3, 2, 1])
    write_solution(tmp_path / "a.sol", cvrp, Solution([[2, 1], [4, 3]]), 24.0)
    assert (tmp_path / "a.sol").read_text() == "Route #1: 2 1\nRoute #2: 4 3\nCost 24\n"
    write_solution(tmp_path / "b.sol", cvrp, Solution([[2, 1], [4, 3]]), 24.25)
    assert (tmp_path / "b.sol").read_text().endswith("Cost 24.25\n")
    write_solution(tmp_path / "a.json", cvrp, Solution([[2, 1], [4, 3]]), 24.0)
    text = (tmp_path / "a.json").read_text()
    assert '"objective": 24,' in text
    assert json.loads(text) == {"problem": "cvrp", "objective": 24, "routes": [[3, 4], [1, 2]]}
    op = Op(
        coords=[[0, 0], [3, 0], [3, 4]], prize=[1, 2, 3], max_length=12, labels=[1, 2, 3], name="t"
    )
    write_solution(tmp_path / "op.sol", op, Solution([[1, 2]]), 6.0)
    assert (tmp_path / "op.sol").read_text().splitlines() == [
        "NAME : t",
        "TYPE : OP",
        "DIMENSION : 3",
        "COST_LIMIT : 12",
        "ROUTE_NODES : 3",
        "ROUTE_SCORE : 6",
        "ROUTE_COST : 12",
        "NODE_SEQUENCE_SECTION",
        "1",
        "2",
        "3",
        "-1",
        "DEPOT_SECTION",
        "1",
        "-1",
        "EOF",
    ]


@pytest.mark.parametrize(
    ("problem", "suffix", "message"),
    [
        ("tsp", ".sol", "a solution of tsp is written as .tour or .json, not '.sol'"),
        ("cvrp", ".tour", "a solution of cvrp is written as .sol or .json, not '.tour'"),
        ("pctsp", ".sol", "a solution of pctsp is written as .json, not '.sol'"),
        ("op", "", "a solution of op is written as .sol or .json, not ''"),
    ],
)
def test_refused_suffixes_of_solutions(tmp_path, problem, suffix, message):
    instance = BUILDERS[problem](coords=COORDS)
    with pytest.raises(InputError) as caught:
        write_solution(tmp_path / f"file{suffix}", instance, Solution(SOLUTIONS[problem]), 1.0)
    assert message in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_an_objective_that_is_no_number(tmp_path):
    instance = BUILDERS["tsp"](coords=COORDS)
    with pytest.raises(InputError, match="nan is not a finite number"):
        write_solution(tmp_path / "t.json", instance, Solution(SOLUTIONS["tsp"]), math.nan)
