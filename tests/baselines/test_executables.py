"""Programs of others, played by small scripts."""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest

import metasage
from metasage.baselines import BaselineError, get_baseline

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
