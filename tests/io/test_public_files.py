"""Every public instance is read, and every public solution has its stated value."""

import json
from pathlib import Path

import numpy as np
import pytest

from metasage.errors import InputError
from metasage.io import read, read_instance, read_set
from metasage.io.solution import FileSolution
from metasage.problems import Solution, check

# Greatest difference that the documentation of the tours states, or a little more.
ORTOOLS_TOLERANCE = 1e-5


@pytest.fixture
def data(shared: Path) -> Path:
    return shared / "data"


@pytest.fixture
def index(data: Path) -> dict:
    return json.loads((data / "index.json").read_text())


def test_every_instance_and_solution_has_its_stated_value(data, index):
    solved = {"tsp": 0, "cvrp": 0, "op": 0}
    entries = {name: e for name, e in index.items() if not e["file"].endswith(".npz")}
    for name, entry in entries.items():
        instance = read_instance(data / entry["file"])
        assert instance.problem.name == entry["problem"], name
        assert instance.size == entry["n"], name
        assert instance.metric.name == "EUC_2D", name
        if not entry.get("solution_file"):
            continue
        stated = read(data / entry["solution_file"])
        assert isinstance(stated, FileSolution), name
        if instance.problem.name != "tsp":
            assert stated.objective == entry["best_known"], name
        verdict = check(instance, stated.resolve(instance))
        assert verdict.violation is None, name
        assert verdict.objective == entry["best_known"], name
        solved[instance.problem.name] += 1
    assert len(entries) == 461
    assert solved == {"tsp": 29, "cvrp": 232, "op": 169}


def test_every_solution_file_belongs_to_an_instance(data, index):
    listed = {entry["solution_file"] for entry in index.values() if entry.get("solution_file")}
    present = {
        str(path.relative_to(data))
        for pattern in ("*.sol", "*.tour")
        for path in data.rglob(pattern)
    }
    assert present == listed


def test_op_limit_and_depot_score(data, index):
    for entry in index.values():
        if entry["problem"] == "op" and "depot_score" in entry:
            instance = read_instance(data / entry["file"])
            assert instance.max_length == entry["max_length"]
            assert instance.prize[0] == entry["depot_score"]
            assert instance.labels[0] == 1


def test_every_set(data, index):
    read_sets = 0
    for entry in index.values():
        if "loc" not in entry.get("keys", {}):
            continue
        instances = read_set(data / entry["file"])
        assert instances.problem.name == entry["problem"]
        assert len(instances) == entry["n_instances"]
        with np.load(data / entry["file"]) as arrays:
            assert set(instances.arrays) <= set(arrays)
            for field, array in instances.arrays.items():
                assert array.dtype == arrays[field].dtype
                np.testing.assert_array_equal(array, arrays[field])
        last = read_instance(f"{data / entry['file']}#{len(instances) - 1}")
        assert last.size == entry["n"]
        np.testing.assert_array_equal(
            last.coords[-entry["n"] :], instances.arrays["loc"][-1].astype(np.float64)
        )
        read_sets += 1
    assert read_sets == 28


def test_a_file_of_tours_alone_is_not_a_set(data):
    with pytest.raises(InputError, match="cost, instance, tour"):
        read_set(data / "paper_sets/pctsp500_ortools_seed1234.npz")


@pytest.mark.parametrize(("size", "count"), [(20, 100), (100, 94), (500, 128), (1000, 127)])
def test_prize_collecting_tours_have_their_costs(data, index, size, count):
    entry = index[f"pctsp{size}_ortools_seed1234"]
    home = entry["instances_of"]
    inside = home == "inside this file"
    instances = read_set(data / (entry if inside else index[home])["file"], "pctsp")
    with np.load(data / entry["file"]) as arrays:
        tours, costs, numbers = arrays["tour"], arrays["cost"], arrays["instance"]
    assert len(costs) == count
    for row, (tour, cost) in enumerate(zip(tours, costs, strict=True)):
        instance = instances[row if inside else int(numbers[row])]
        verdict = check(instance, Solution([[node for node in tour if node > 0]]))
        assert verdict.feasible
        assert verdict.objective == pytest.approx(cost, abs=ORTOOLS_TOLERANCE)
