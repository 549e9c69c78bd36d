"""Programs of others, played by small scripts."""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest

import metasage
from metasage.baselines import BaselineError, get_baseline
from metasage.baselines.filo2 import next_run
from metasage.errors import InputError
from metasage.problems.metric import EXPLICIT, METRICS

from .conftest import optimum, small_instance

# Reads the nodes from the instance and visits them in reverse order.
READ = """
import sys, time
def nodes(path):
    lines = open(path).read().split("NODE_COORD_SECTION")[1].strip().splitlines()
    rows = [line.split() for line in lines]
    return [int(row[0]) for row in rows[:next(i for i, r in enumerate(rows) if len(r) != 3)]]
"""
CONCORDE = """
problem, tour = sys.argv[-1], sys.argv[sys.argv.index("-o") + 1]
order = [node - 1 for node in reversed(nodes(problem))]
open(tour, "w").write(f"{len(order)}\\n" + " ".join(map(str, order)) + "\\n")
"""
LKH = """
settings = dict(line.split(" = ") for line in open(sys.argv[1]).read().splitlines() if "=" in line)
assert int(settings["TIME_LIMIT"]) >= 1
order = list(reversed(nodes(settings["PROBLEM_FILE"])))
if "DEMAND_SECTION" in open(settings["PROBLEM_FILE"]).read():
    # Each customer has a route; further depots are counted on.
    count, order = len(order), [n for node in order[:-1] for n in (node, len(order) + node)]
    order[1] = 1
with open(settings["OUTPUT_TOUR_FILE"], "w") as file:
    file.write(f"TYPE : TOUR\\nDIMENSION : {len(order)}\\nTOUR_SECTION\\n")
    file.write("\\n".join(map(str, order)) + "\\n-1\\nEOF\\n")
"""
COMPASS = """
problem, tour = sys.argv[3], sys.argv[sys.argv.index("-o") + 1]
assert sys.argv[1:3] == ["--op", "--op-ea4op"]
with open(tour, "w") as file:
    file.write("TYPE : OP\\nROUTE_SCORE : 1\\nNODE_SEQUENCE_SECTION\\n1\\n3\\n2\\n-1\\n")
    file.write("DEPOT_SECTION\\n1\\n-1\\nEOF\\n")
"""

# Serves each customer alone, a thousand iterations a second after a start of a tenth of one.
FILO2 = """
options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
iterations = int(options["--coreopt-iterations"])
open(LOG, "a").write(f"{iterations} ")
time.sleep(0.1 + iterations / 1000)
name = sys.argv[1].rpartition("/")[2]
with open(f'{options["--outpath"]}{name}_seed-{options["--seed"]}.vrp.sol', "w") as file:
    for number in range(1, len(nodes(sys.argv[1]))):
        file.write(f"Route #{number}: {number}\\n")
    file.write("Cost 1.000000")
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    def call(program: str, body: str) -> None:
        script = tmp_path / program
        script.write_text(f"#!{sys.executable}\n{READ}\n{body}")
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    return call


@pytest.mark.parametrize(("name", "program", "body"), [
    ("concorde", "concorde", CONCORDE), ("lkh3", "LKH", LKH),
])  # fmt: skip
def test_a_tour_comes_back(install, name, program, body):
    install(program, body)
    instance = metasage.generate("tsp", 9, 1, 1)[0]
    outcome = get_baseline(name).solve(instance, 5.0, 1)
    assert outcome.solution.routes == (tuple(range(8, -1, -1)),)
    assert outcome.objective == instance.tour_length(np.arange(9))


def test_routes_come_back(install):
    install("LKH", LKH)
    instance = metasage.generate("cvrp", 4, 1, 1)[0]
    outcome = get_baseline("lkh3").solve(instance, 5.0, 1)
    assert sorted(outcome.solution.routes) == [(1,), (2,), (3,), (4,)]


def test_an_orienteering_tour_comes_back(install):
    install("compass", COMPASS)
    instance = metasage.generate("op", 6, 1, 1, max_length=9.0)[0]
    outcome = get_baseline("compass").solve(instance, 5.0, 1)
    assert outcome.solution.routes == ((2, 1),)
    assert outcome.objective == pytest.approx(instance.prize[1] + instance.prize[2])


def test_a_program_that_does_not_end_is_ended(install):
    install("concorde", "time.sleep(60)")
    with pytest.raises(BaselineError, match="concorde found no feasible solution in time"):
        get_baseline("concorde").solve(metasage.generate("tsp", 9, 1, 1)[0], 0.5, 1)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("9\\n0 1 2 magic", "cannot be read"), ("9\\n0 1 2", "not visited"), ("", "cannot be read")],
)
def test_nonsense_is_a_failure(install, text, sentence):
    install("concorde", f'open(sys.argv[sys.argv.index("-o") + 1], "w").write("{text}")')
    with pytest.raises(BaselineError, match=sentence):
        get_baseline("concorde").solve(metasage.generate("tsp", 9, 1, 1)[0], 5.0, 1)


def test_lkh_may_use_more_vehicles_than_the_demand_needs(install, tmp_path):
    # Three loads of 6 for vehicles of 10: two could carry 18, but not these.
    install("LKH", f"import shutil; shutil.copy(sys.argv[1], {str(tmp_path / 'seen')!r})\n" + LKH)
    instance = metasage.generate("cvrp", 3, 1, 1)[0]
    instance = replace(instance, demand=np.array([0.0, 6, 6, 6]), capacity=10.0)
    get_baseline("lkh3").solve(instance, 5.0, 1)
    lines = (tmp_path / "seen").read_text().splitlines()
    assert {"VEHICLES = 3", "MTSP_MIN_SIZE = 0", "SPECIAL"} <= set(lines)


def test_lkh_is_given_the_limits_of_an_instance(install, tmp_path):
    target = str(tmp_path / "run")
    copy = f"shutil.copytree(sys.argv[1].rpartition('/')[0], {target!r})"
    install("LKH", f"import shutil\n{copy}\n{LKH}")
    instance = metasage.generate("cvrp", 4, 1, 1)[0]
    matrix = np.arange(25.0).reshape(5, 5)
    limits = {"vehicles": 4, "max_route_length": 40.0, "service_time": [0, 1, 1, 2, 1]}
    instance = replace(instance, coords=None, matrix=matrix, metric=EXPLICIT, **limits)
    # The script reads coordinates, and there are none; what it was given is what counts.
    with pytest.raises(BaselineError):
        get_baseline("lkh3").solve(instance, 5.0, 1)
    assert "VEHICLES = 4" in (tmp_path / "run" / "run.par").read_text().splitlines()
    given = metasage.read_instance(tmp_path / "run" / "problem.vrp")
    assert given.is_directed
    assert (given.vehicles, given.max_route_length) == (4, 40.0)
    assert given.service_time.tolist() == [0, 1, 1, 2, 1]
    assert "TYPE : ACVRP" in (tmp_path / "run" / "problem.vrp").read_text()


def test_filo2_measures_its_pace_and_uses_the_time(install, tmp_path):
    install("filo2", f"LOG = {str(tmp_path / 'log')!r}\n" + FILO2)
    instance = metasage.generate("cvrp", 4, 1, 1)[0]
    outcome = get_baseline("filo2").solve(instance, 4.0, 7)
    assert sorted(outcome.solution.routes) == [(1,), (2,), (3,), (4,)]
    assert outcome.note == ""
    first, second, last = map(int, (tmp_path / "log").read_text().split())
    assert first == 120
    assert 360 <= second <= 600
    assert 1000 <= last <= 2600
    assert 2.0 < outcome.seconds < 4.0


def test_filo2_that_is_slower_than_it_was_is_ended(install, tmp_path):
    slow = FILO2.replace("iterations / 1000)", "iterations / 1000 + 60 * (iterations > 999))")
    install("filo2", f"LOG = {str(tmp_path / 'log')!r}\n" + slow)
    outcome = get_baseline("filo2").solve(metasage.generate("cvrp", 4, 1, 1)[0], 4.0, 7)
    second = (tmp_path / "log").read_text().split()[1]
    assert outcome.note == f"did not finish, this is a run of {second} iterations"
    assert outcome.seconds < 4.5


@pytest.mark.parametrize(
    ("runs", "left", "least", "most"),
    [
        ([], 10.0, 300, 300),
        ([(300, 0.3)], 9.7, 1500, 1500),
        ([(300, 5.0)], 5.0, 900, 900),  # the start takes all of it
        ([(300, 0.3), (1500, 1.5)], 8.2, 4000, 6560),  # it gets slower, so fewer than by pace
        ([(300, 1.3), (900, 1.9)], 6.8, 2500, 4200),  # of which a second is the start
        ([(300, 2.0), (900, 1.9)], 6.1, 1, 10_000),  # noise
        ([(300, 0.3), (1500, 8.0)], 1.7, 0, 0),
        ([(300, 0.3), (1500, 1.5), (5000, 5.0)], 3.2, 0, 0),
    ],
)
def test_runs_of_filo2_fit_the_time(runs, left, least, most):
    assert least <= next_run(runs, 10.0, left) <= most


def test_filo2_refuses_lengths_that_it_does_not_read(install):
    install("filo2", "")
    instance = replace(metasage.generate("cvrp", 4, 1, 1)[0], metric=METRICS["MAN_2D"])
    with pytest.raises(InputError, match="filo2 takes Euclidean lengths alone"):
        get_baseline("filo2").solve(instance, 1.0)
    with pytest.raises(InputError, match="filo2 does not know a number of vehicles"):
        get_baseline("filo2").solve(replace(instance, vehicles=4), 1.0)


@pytest.mark.parametrize("metric", ["EXACT_2D", "EUC_2D"])
def test_the_real_filo2_finds_the_optimum(metric):
    filo2 = get_baseline("filo2")
    if not filo2.is_available():
        pytest.skip("filo2 is not on the PATH")
    instance = small_instance("cvrp", 1)
    instance = replace(instance, coords=instance.coords * 100, metric=METRICS[metric])
    assert filo2.solve(instance, 2.0, 1).objective == pytest.approx(optimum(instance))
