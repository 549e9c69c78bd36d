"""Python and the command line do the same, in the same words."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import metasage

ROOT = Path(__file__).parents[1]
TOWN = ROOT / "examples" / "town200.vrp"


def by_command(file, *options):
    """Solve in a program of its own, as a user would."""
    command = [sys.executable, "-m", "metasage", "solve", str(file), "--json", "-", "--quiet"]
    done = subprocess.run([*command, *map(str, options)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """One small file of each problem."""
    folder = tmp_path_factory.mktemp("small")
    files = {}
    for problem in ("tsp", "cvrp", "pctsp", "op"):
        files[problem] = folder / f"{problem}.json"
        metasage.write_instance(files[problem], metasage.generate(problem, 25, 1, 7)[0])
    return files


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "pctsp", "op"])
def test_without_a_time_limit_both_find_the_same_routes(small, problem):
    instance = metasage.read_instance(small[problem])
    told = by_command(small[problem], "--iterations", 3, "--seed", 5, "--threads", 2)
    found = metasage.solve(instance, iterations=3, seed=5, threads=1)
    assert found.best.labelled(instance) == told["routes"]
    ours = found.to_dict()
    for name in ("objective", "method", "model", "sml", "improve", "preset", "parameters"):
        assert ours[name] == told[name], name
    assert [stage for stage, *_ in ours["stages"]] == [stage for stage, *_ in told["stages"]]


def test_names_of_methods_presets_and_improvers_are_those_of_the_command_line(small):
    instance = metasage.read_instance(small["tsp"])
    told = by_command(
        small["tsp"], "--method", "sage", "--preset", "paper", "--improve", "memetic",
        "--iterations", 2, "--rollouts", 10, "--set", "alpha=2",
    )  # fmt: skip
    found = metasage.solve(
        instance, "sage", preset="paper", improve="memetic", iterations=2, rollouts=10,
        settings={"alpha": 2},
    )  # fmt: skip
    assert found.best.labelled(instance) == told["routes"]
    assert found.settings["parameters"] == told["parameters"]


def test_under_a_time_limit_both_leave_it_to_local_search(small):
    instance = metasage.read_instance(small["cvrp"])
    told, found = (
        by_command(small["cvrp"], "--time-limit", 3),
        metasage.solve(instance, time_limit=3),
    )
    assert told["method"] == found.settings["method"] == "local-search"
    # So few customers have one best solution, which any search finds.
    assert found.objective == pytest.approx(told["objective"])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda i: metasage.solve("my.vrp"), "an instance was expected.* this is a str"),
        (lambda i: metasage.solve([i]), "an instance was expected.* this is a list"),
        (lambda i: metasage.solve(i, "magic"), "method 'magic' is not one of greedy"),
        (lambda i: metasage.solve(i, 5), "a method is settings such as"),
        (lambda i: metasage.solve(i, stop=10), "stop is 10, and a criterion was expected"),
        (lambda i: metasage.solve(i, improve="fianl"), "improve is 'fianl' and must be one of"),
        (lambda i: metasage.solve(i, preset="papper"), "preset 'papper' is not one of"),
        (lambda i: metasage.solve(i, engine="gpu"), "engine 'gpu' is not one of"),
        (lambda i: metasage.solve(i, time_limit=-1), "the time limit is -1"),
        (lambda i: metasage.solve(i, time_limit="10"), "the time limit is 10"),
        (lambda i: metasage.solve(i, seed=1.5), "the seed is 1.5"),
        (lambda i: metasage.solve(i, threads=-2), "threads is -2"),
        (lambda i: metasage.solve(i, settings={"foo": 1}, time_limit=1), "no setting 'foo'"),
        (lambda i: metasage.solve(i, metasage.Sage(), rollouts=5), "rollouts is given beside"),
        (lambda i: metasage.solve(i, initial_solution=[[1]]), "Solution was expected.* a list"),
        (lambda i: metasage.solve(i, "math:sqrt"), "is not a subclass of metasage.Method"),
        (lambda i: metasage.solve(i, "no.module:X"), "cannot be imported"),
        (lambda i: metasage.solve(i, model="no-model"), "there is no model 'no-model'"),
        (lambda i: metasage.check(i, [[1, 2]]), "Solution was expected.* a list"),
        (lambda i: metasage.check("a.vrp", i), "an instance was expected"),
        (lambda i: metasage.evaluate("set.npz"), "a list of instances was expected"),
        (lambda i: metasage.evaluate([i, 3]), "a list of instances was expected"),
        (lambda i: metasage.evaluate([i], offset=5), "none of them was chosen"),
        (lambda i: metasage.compare([], 1), "instances were expected"),
        (lambda i: metasage.compare(i, 0), "the time limit is 0"),
        (lambda i: metasage.plot(i, [[1]], "x.png"), "Solution was expected"),
        (lambda i: metasage.Instance(coords=[[0, 0]]), "the base of instances"),
    ],
)
def test_wrong_arguments_are_one_sentence(small, call, sentence):
    instance = metasage.read_instance(small["cvrp"])
    with pytest.raises(metasage.InputError, match=sentence) as told:
        call(instance)
    assert str(told.value).endswith(".")
    assert "\n" not in str(told.value)


def test_routes_are_told_with_length_and_load():
    instance = metasage.Cvrp(
        coords=[[0, 0], [0, 3], [4, 3], [4, 0]], demand=[0, 1, 2, 3], capacity=4
    )
    result = metasage.solve(instance)
    assert sum(route.length for route in result.routes) == pytest.approx(result.objective)
    assert sorted(route.load for route in result.routes) == [3, 3]
    plain = result.to_dict()
    assert sum(plain["route_lengths"]) == pytest.approx(plain["objective"])
    tour = metasage.solve(metasage.Tsp(coords=[[0, 0], [0, 3], [4, 3], [4, 0]]))
    assert [(route.length, route.load) for route in tour.routes] == [(14.0, None)]


def test_evaluate_takes_sets_files_and_parts_of_sets(tmp_path):
    sets = tmp_path / "ten.npz"
    whole = metasage.generate("tsp", 12, 10, 3)
    metasage.write_set(sets, whole)
    single = tmp_path / "one.json"
    metasage.write_instance(single, whole[4])
    command = [sys.executable, "-m", "metasage", "evaluate", f"{sets}#2:5", str(single)]
    out = tmp_path / "out.json"
    subprocess.run([*command, "--json", str(out), "--offset", "1", "--quiet"], check=True)
    told = json.loads(out.read_text())
    found = metasage.evaluate([whole[3], whole[4], whole[4]])
    assert told["objectives"] == pytest.approx(found.objectives)
    assert told["n"] == 12
    for instance, routes in zip([whole[3], whole[4], whole[4]], told["routes"], strict=True):
        assert metasage.check(instance, metasage.Solution(routes)).feasible
    assert [i.name for i in metasage.read_instances(f"{sets}#7:")] == ["ten#7", "ten#8", "ten#9"]
    with pytest.raises(metasage.InputError, match="none of them here"):
        metasage.read_instances(f"{sets}#20:30")
    with pytest.raises(metasage.InputError, match="a part of a set"):
        metasage.read(f"{sets}#2:5")


def test_compare_is_there_for_python(tmp_path):
    instance = metasage.generate("cvrp", 8, 1, 1)[0]
    told = []
    found = metasage.compare(
        instance, 0.5, methods=["local-search"], baselines=["nearest"],
        listener=lambda *entry: told.append(entry),
    )  # fmt: skip
    (contest,) = found.contests
    assert [entry.solver for entry in contest.entries] == ["local-search", "nearest"]
    assert found.summary[0]["mean_gap"] == pytest.approx(0)
    assert {solver for _, solver, _, _ in told} == {"local-search", "nearest"}
    found.plot(tmp_path / "curves.svg")
    assert (tmp_path / "curves.svg").stat().st_size > 1000


def test_the_code_of_the_readme_is_well_typed_and_runs(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert blocks
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks).replace('"examples/', f'"{ROOT}/examples/'))
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(script)],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout
    subprocess.run([sys.executable, str(script)], check=True, cwd=tmp_path, timeout=120)


def test_a_method_of_ones_own_works_by_its_module(small, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\n"
        "from metasage import Greedy\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class Timid(Greedy):\n"
        "    name = 'timid'\n"
        "    courage: float = 1.0\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    instance = metasage.read_instance(small["tsp"])
    found = metasage.solve(instance, "mine:Timid", improve="none", settings={"courage": 2.0})
    assert found.settings["method"] == "timid"
    assert found.settings["parameters"]["courage"] == 2.0
    assert found.best == metasage.solve(instance, "greedy", improve="none").best
