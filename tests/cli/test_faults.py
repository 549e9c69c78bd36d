"""Hard instances, full disks and kills: an answer or a sentence, and nothing is lost."""

import json
import resource
import signal
import subprocess
import sys
import time

import pytest

FAR, NEAR = [50.0, 50.0], [0.5, 0.5]


def describe(problem, places):
    """Return an instance of a problem whose nodes lie at the given places."""
    count = len(places)
    ones = [0.0] + [1.0] * (count - 1)
    found = {"problem": problem, "coords": places}
    if problem == "cvrp":
        return found | {"demand": ones, "capacity": 2}
    if problem == "pctsp":
        return found | {"prize": ones, "penalty": ones, "min_prize": 1}
    if problem == "op":
        return found | {"prize": ones, "max_length": 10}
    return found


@pytest.fixture
def solved(metasage, tmp_path):
    """Write an instance, solve it within a time limit, and check the written solution."""

    def solve(instance, seconds="3"):
        file, solution = tmp_path / "given.json", tmp_path / "found.json"
        file.write_text(json.dumps(instance))
        code, _, err = metasage("solve", file, "--time-limit", seconds, "--json", solution)
        assert code == 0, err
        code, out, _ = metasage("check", file, solution, "--json", "-")
        assert code == 0
        return json.loads(solution.read_text()), json.loads(out)

    return solve


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "pctsp", "op"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_one_two_and_three_nodes(solved, problem, count):
    places = [[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 4.0]]
    found, checked = solved(describe(problem, places[: count + (problem != "tsp")]))
    assert found["objective"] == pytest.approx(checked["objective"])
    best = {
        "tsp": {1: 0, 2: 6, 3: 12},
        "cvrp": {1: 6, 2: 12, 3: 18},
        "pctsp": {1: 6, 2: 7, 3: 8},
        "op": {1: 1, 2: 1, 3: 1},
    }
    assert found["objective"] == pytest.approx(best[problem][count])


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "pctsp", "op"])
def test_all_nodes_at_one_place(solved, problem):
    found, _ = solved(describe(problem, [NEAR] * 12))
    assert found["objective"] == (11 if problem == "op" else 0)


def test_an_op_limit_too_short_for_any_customer_leaves_the_empty_tour(solved):
    instance = describe("op", [NEAR] + [FAR] * 8) | {"max_length": 1}
    found, _ = solved(instance)
    assert (found["objective"], found["routes"]) == (0, [[]])


def test_a_pctsp_without_enough_prize_is_infeasible(metasage, tmp_path):
    file = tmp_path / "poor.json"
    file.write_text(json.dumps(describe("pctsp", [NEAR] * 8) | {"min_prize": 100}))
    code, out, err = metasage("solve", file, "--time-limit", "3")
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "100" in err


def test_half_a_second_for_a_thousand_nodes(metasage, tmp_path):
    metasage("generate", "cvrp", "--size", "1000", "--count", "1", "-o", tmp_path / "big.npz")
    command = [sys.executable, "-m", "metasage.cli", "solve", f"{tmp_path / 'big.npz'}#0"]
    begin = time.monotonic()
    ended = subprocess.run([*command, "--time-limit", "0.5"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    assert time.monotonic() - begin < 2.5


def test_a_full_disk_is_one_sentence_and_keeps_the_earlier_solution(examples, tmp_path):
    target = tmp_path / "best.sol"
    target.write_text("an earlier solution\n")

    def no_room():
        # Writing fails as on a full disk, rather than ending the process.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))

    command = [sys.executable, "-m", "metasage.cli", "solve", str(examples / "town200.vrp")]
    ended = subprocess.run(
        [*command, "--time-limit", "2", "--quiet", "-o", str(target)],
        capture_output=True,
        text=True,
        preexec_fn=no_room,
        env={"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("metasage: ")
    assert ended.stderr.count("\n") == 1
    assert target.read_text() == "an earlier solution\n"
    assert [path.name for path in tmp_path.iterdir()] == ["best.sol"]


def test_a_kill_leaves_the_earlier_solution(examples, tmp_path):
    target = tmp_path / "best.sol"
    target.write_text("an earlier solution\n")
    command = [sys.executable, "-m", "metasage.cli", "solve", str(examples / "town200.vrp")]
    running = subprocess.Popen([*command, "--time-limit", "60", "--quiet", "-o", str(target)])
    time.sleep(2.0)
    running.kill()
    running.wait()
    assert target.read_text() == "an earlier solution\n"


def test_the_paper_s_method_without_time_to_load_it_is_an_answer(examples, tmp_path):
    target = tmp_path / "out.json"
    # A program of its own: torch is loaded in this one.
    ended = subprocess.run(
        [sys.executable, "-m", "metasage", "solve", str(examples / "town200.vrp"), "--improve",
         "none", "--time-limit", "1", "--json", str(target)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    sentence = "1 s are too short to load a network; construction works alone."
    assert (ended.returncode, ended.stderr) == (0, f"metasage: warning: {sentence}\n")
    found = json.loads(target.read_text())
    assert (found["method"], found["improve"], found["feasible"]) == ("construction", "none", True)
    assert [stage for stage, *_ in found["stages"]] == ["construction"]
