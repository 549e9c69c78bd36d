import json
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from metasage.errors import InputError
from metasage.io import read_set, write_instance

KEYS = {
    "instance", "problem", "n", "sense", "objective", "feasible", "routes", "method", "preset",
    "model", "sml", "improve", "engine", "seed", "threads", "iterations", "seconds", "curve",
    "stages", "version",
}  # fmt: skip


def test_a_file_is_solved_written_and_checked(metasage, network, examples, tmp_path):
    solution = tmp_path / "square.sol"
    code, out, err = metasage(
        "solve", examples / "square.vrp", "--model", network, "--method", "sample",
        "--iterations", 20, "-o", solution, "--json", "-",
    )  # fmt: skip
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert set(result) >= KEYS
    assert sorted(node for route in result["routes"] for node in route) == [2, 3, 4, 5, 6, 7]
    assert result["iterations"] == 20
    _, out, _ = metasage("check", examples / "square.vrp", solution, "--json", "-")
    assert json.loads(out) == {
        "objective": result["objective"], "feasible": True, "violation": None
    }  # fmt: skip


def test_a_set_is_evaluated_against_references(metasage, network, tmp_path):
    target = tmp_path / "set.npz"
    metasage("generate", "cvrp", "--size", 8, "--count", 3, "-o", target)
    references = tmp_path / "best.json"
    references.write_text("[1, 2, 3]")
    code, out, _ = metasage(
        "evaluate", target, "--model", network, "--limit", 2, "--references", references,
        "--json", "-",
    )  # fmt: skip
    assert code == 0
    result = json.loads(out)
    assert len(result["objectives"]) == len(result["seconds"]) == 2
    assert result["mean"] == pytest.approx(np.mean(result["objectives"]))
    assert result["gap"] == pytest.approx((result["mean"] - 1.5) / 1.5)
    plain = ["--method", "greedy", "--improve", "none", "--json", "-"]
    single = json.loads(metasage("solve", f"{target}#1", "--model", network, *plain)[1])
    assert single["objective"] == result["objectives"][1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--method", "magic"], "method 'magic' is not one of"),
        (["--augment", "3"], "augment is 3 and must be one of 1, 2, 4, 8"),
        (["--neighbours", "0"], "neighbours is 0"),
        (["--rollouts", "0"], "rollouts is 0"),
        (["--iterations", "-1"], "iterations is -1"),
        (["--time-limit", "-1"], "the time limit is -1"),
        (["--threads", "-2"], "threads is -2"),
        (["--max-memory", "0"], "max-memory is 0"),
        (["--engine", "warp"], "engine 'warp'"),
        (["--seed", "99999999999999999999999"], "seed"),
        (["--device", "abacus"], "device 'abacus'"),
        (["-o", "tour.png"], "tour.png"),
        (["-o", "no/where.sol"], "no/where.sol"),
        (["--json", "no/where.json"], "no/where.json"),
        (["--sml", "magic"], "there is no scale meta-learner 'magic'"),
        (["--sml", "shipped"], "there is no scale meta-learner for the model"),
        (["--method", "sage", "--set", "speed=1"], "sage has no setting 'speed', only"),
        (["--method", "sage", "--set", "learning_rate=fast"], "must be a finite number"),
        (["--method", "sage", "--set", "bias=sideways"], "bias is 'sideways'"),
    ],
)
def test_wrong_options_are_one_sentence(metasage, network, examples, options, sentence):
    code, _, err = metasage("solve", examples / "square.vrp", "--model", network, *options)
    assert code == 2
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("content", ["[0.0]", "[NaN]", '{"1": 2}', "[1", '[true, "x"]'])
def test_wrong_references_are_one_sentence(metasage, network, tmp_path, content):
    target, references = tmp_path / "set.npz", tmp_path / "best.json"
    metasage("generate", "cvrp", "--size", 5, "-o", target)
    references.write_text(content)
    code, _, err = metasage("evaluate", target, "--model", network, "--references", references)
    assert code == 2
    assert "a JSON list of positive numbers was expected." in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_at_any_time_ends_with_130(network, examples, tmp_path, number):
    solution = tmp_path / "best.sol"
    command = [sys.executable, "-m", "metasage.cli", "solve", str(examples / "square.vrp")]
    options = ["--model", str(network), "--method", "sample", "--time-limit", "60"]
    # A busy machine may need long before it has a solution; then an interrupt keeps it.
    for delay in (1.5, 6.0, 24.0):
        process = subprocess.Popen(
            [*command, *options, "-o", str(solution)], stderr=subprocess.PIPE
        )
        time.sleep(delay)
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 130
        assert b"Traceback" not in errors
        if solution.exists():
            break
    assert solution.exists()


def test_without_a_network_local_search_works_alone(metasage, examples, monkeypatch, tmp_path):
    monkeypatch.setattr("metasage.policies.library.WEIGHTS", tmp_path)
    code, out, err = metasage("solve", examples / "square.vrp")
    assert code == 0
    assert err == ""
    assert "objective" in out
    code, _, err = metasage("solve", examples / "square.vrp", "--improve", "none")
    assert code == 2
    assert "name one by --model" in err


def test_an_infeasible_instance_exits_with_1(metasage, network, examples, tmp_path):
    tight = tmp_path / "tight.vrp"
    text = (examples / "square.vrp").read_text().replace("CAPACITY : 10", "CAPACITY : 4")
    tight.write_text(text)
    for more in ((), ("--model", network)):
        code, _, err = metasage("solve", tight, *more)
        assert code == 1
        assert err == "metasage: customer 4 demands 5, more than the capacity 4.\n"


def test_an_instance_without_coordinates_is_solved_without_a_network(metasage, tmp_path):
    lengths = [[abs(i - j) for j in range(8)] for i in range(8)]
    rows = "\n".join(" ".join(map(str, row)) for row in lengths)
    file = tmp_path / "line.tsp"
    file.write_text(
        "NAME: line\nTYPE: TSP\nDIMENSION: 8\nEDGE_WEIGHT_TYPE: EXPLICIT\n"
        f"EDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n{rows}\nEOF\n"
    )
    code, out, err = metasage("solve", file)
    assert (code, err) == (0, "")
    code, _, message = metasage("solve", file, "--method", "sage")
    assert (code, "no coordinates, which a network needs" in message) == (2, True)
    assert "objective 14" in out
    code, _, err = metasage("solve", file, "--plot", tmp_path / "x.png")
    assert (code, "no coordinates to draw" in err) == (2, True)


def test_nothing_that_is_read_or_written_is_overwritten(metasage, tmp_path):
    file = tmp_path / "town.json"
    metasage("generate", "tsp", "--size", 8, "--count", 1, "-o", tmp_path / "s.npz")
    write_instance(file, read_set(tmp_path / "s.npz")[0])
    before = file.read_bytes()
    for targets in (["-o", file], ["--json", file], ["-o", tmp_path / "a.json", "--json", tmp_path / "a.json"]):  # fmt: skip # noqa: E501
        code, _, err = metasage("solve", file, "--time-limit", 1, *targets)
        assert (code, "named twice" in err) == (2, True)
    assert file.read_bytes() == before


def test_no_command_overwrites_what_it_reads(metasage, examples, tmp_path):
    instance, solution, many = tmp_path / "a.vrp", tmp_path / "a.sol", tmp_path / "s.npz"
    instance.write_bytes((examples / "square.vrp").read_bytes())
    solution.write_bytes((examples / "square.sol").read_bytes())
    metasage("generate", "tsp", "--size", 8, "--count", 1, "-o", many)
    before = {file: file.read_bytes() for file in (instance, solution, many)}
    for command in (
        ["info", instance, "--json", instance],
        ["check", instance, solution, "--json", solution],
        ["evaluate", many, "--json", many],
        ["compare", instance, "--time-limit", 1, "--json", instance],
    ):
        code, _, err = metasage(*command)
        assert (code, "named twice" in err) == (2, True), command
    assert {file: file.read_bytes() for file in before} == before


def test_one_failed_output_does_not_lose_the_others(metasage, tmp_path, monkeypatch):
    metasage("generate", "tsp", "--size", 8, "--count", 1, "-o", tmp_path / "s.npz")

    def full(*arguments):
        raise InputError("the disk is full.")

    monkeypatch.setattr("metasage.io.write_solution", full)
    code, out, err = metasage(
        "solve", tmp_path / "s.npz#0", "--time-limit", 1, "-o", tmp_path / "a.tour",
        "--json", tmp_path / "a.json",
    )  # fmt: skip
    assert (code, "the disk is full" in err) == (2, True)
    assert "objective" in out
    assert (tmp_path / "a.json").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--preset", "mine"),
        ("--engine", "steam"),
        ("--rollouts", 0),
        ("--time-limit", "inf"),
        ("--augment", 3),
        ("--model", "nobody"),
        ("--model", "nobody.safetensors"),
        ("--best-known", "nan"),
    ],
)
def test_wrong_options_are_refused_however_short_the_time(metasage, tmp_path, option, value):
    metasage("generate", "tsp", "--size", 8, "--count", 1, "-o", tmp_path / "s.npz")
    code, _, err = metasage("solve", tmp_path / "s.npz#0", "--time-limit", 1, option, value)
    assert (code, err.count("\n")) == (2, 1)


def test_seeds_of_any_size_are_taken(metasage, tmp_path):
    metasage("generate", "cvrp", "--size", 30, "--count", 1, "-o", tmp_path / "s.npz")
    code, _, _ = metasage("solve", tmp_path / "s.npz#0", "--time-limit", 5, "--seed", 2**32 - 1)
    assert code == 0
    assert metasage("solve", tmp_path / "s.npz#0", "--time-limit", 1, "--seed", 2**40)[0] == 0


def test_the_summary_tells_who_found_what(metasage, network, tmp_path):
    metasage("generate", "cvrp", "--size", 12, "--count", 1, "-o", tmp_path / "s.npz")
    code, out, _ = metasage(
        "solve", tmp_path / "s.npz#0", "--model", network, "--iterations", 3, "--best-known", 1,
        "--plot", tmp_path / "a.svg", "--plot-curve", tmp_path / "b.png",
        "--json", tmp_path / "a.json",
    )  # fmt: skip
    assert code == 0
    result = json.loads((tmp_path / "a.json").read_text())
    names = [name for name, _, _ in result["stages"]]
    assert names == ["network", "construction", "local search"]
    seconds = [end for _, end, _ in result["stages"]]
    assert seconds == sorted(seconds)
    assert result["stages"][-1][2] == pytest.approx(result["objective"])
    first, routes, *stages = out.splitlines()
    assert "% from best known), 3 iterations" in first
    assert routes.split() == ["routes", str(len(result["routes"]))]
    assert [line.split("  ")[0] for line in stages] == names
    assert "sage with" in stages[0]
    assert (tmp_path / "a.svg").stat().st_size > 1000
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")


def test_no_picture_of_the_curve_is_written_as_text(metasage, examples, tmp_path):
    curve = tmp_path / "curve.txt"
    code, _, err = metasage("solve", examples / "square.vrp", "--plot-curve", curve)
    assert (code, "is written as .png" in err) == (2, True)


def test_a_picture_takes_no_network_away(metasage, network, tmp_path):
    metasage("generate", "cvrp", "--size", 12, "--count", 1, "-o", tmp_path / "s.npz")
    code, _, err = metasage(
        "solve", tmp_path / "s.npz#0", "--model", network, "--time-limit", 3, "--iterations", 1,
        "--plot", tmp_path / "a.png",
    )  # fmt: skip
    assert (code, err) == (0, "")


def test_names_of_instances_are_no_formulas(metasage, tmp_path):
    file, picture = tmp_path / "a.tsp", tmp_path / "a.svg"
    metasage("generate", "tsp", "--size", 8, "--count", 1, "-o", tmp_path / "s.npz")
    write_instance(file, replace(read_set(tmp_path / "s.npz")[0], name=r"a$\foo$ [/x]"))
    code, _, err = metasage(
        "solve", file, "--iterations", 1, "--plot", picture, "--plot-curve", tmp_path / "b.svg"
    )
    assert (code, "Error" in err) == (0, False)
    assert "<svg" in picture.read_text()
    code, out, _ = metasage(
        "compare", file, "--time-limit", 1, "--method", "local-search", "--baseline", "nearest"
    )
    assert (code, "[/x]" in out) == (0, True)


def test_an_infeasible_instance_of_a_set_is_named_before_any_work(metasage, tmp_path):
    file = tmp_path / "poor.npz"
    metasage("generate", "pctsp", "--size", 2, "--count", 12, "--seed", 1, "-o", file)
    code, out, err = metasage("evaluate", file)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "#7: all prizes together are" in err


def test_a_solution_may_come_through_a_pipe(examples):
    command = f"{sys.executable} -m metasage.cli check square.vrp <(cat square.sol)"
    done = subprocess.run(
        ["bash", "-c", command], cwd=examples, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "feasible, objective 450\n"
