"""The commands as a user sees them: output, exit code, one line on stderr."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_version_and_help_are_answered(metasage):
    assert re.fullmatch(r"metasage \d+\.\d+\.\d+\n", metasage("--version")[1])
    code, out, _ = metasage()
    assert code == 0
    assert all(command in out for command in ("generate", "check", "info"))


def test_help_needs_neither_torch_nor_numpy():
    probe = (
        "import sys; from metasage.cli.app import run; run(['--help']);"
        "sys.exit(any(name in sys.modules for name in ('torch', 'numpy', 'rich')))"
    )
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


def test_files_are_checked_without_torch(tmp_path):
    probe = (
        "import sys; from metasage.cli.app import run;"
        f"code = run(['check', r'{EXAMPLES}/square.vrp', r'{EXAMPLES}/square.sol']);"
        "sys.exit(code or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


def test_check_measures_the_example(metasage):
    code, out, err = metasage("check", EXAMPLES / "square.vrp", EXAMPLES / "square.sol")
    assert (code, out, err) == (0, "feasible, objective 450\n", "")


def test_check_reports_a_violation_and_what_the_file_states(metasage, tmp_path):
    solution = tmp_path / "short.sol"
    solution.write_text("Route #1: 2 5 3\nRoute #2: 1 6 4\nCost 7\n")
    code, out, _ = metasage("check", EXAMPLES / "square.vrp", solution, "--json", "-")
    assert code == 1
    assert json.loads(out) == {
        "objective": 388,
        "feasible": False,
        "violation": "route 2 carries 11 of 10.",
    }
    _, out, _ = metasage("check", EXAMPLES / "square.vrp", solution)
    assert "route 2 carries 11 of 10." in out
    assert "states 7" in out


def test_round_overrides_the_file(metasage):
    _, out, _ = metasage(
        "check", EXAMPLES / "square.vrp", EXAMPLES / "square.sol", "--round", "none", "--json", "-"
    )
    exact = json.loads(out)["objective"]
    assert exact == pytest.approx(450, abs=3)
    assert exact != 450


def test_generate_writes_the_recipe_and_info_reads_it(metasage, tmp_path):
    target = tmp_path / "set.npz"
    code, *_ = metasage("generate", "op", "--size", 20, "--count", 3, "--seed", 7, "-o", target)
    assert code == 0
    expected = np.random.RandomState(7).uniform(size=(3, 2))
    assert np.array_equal(np.load(target)["depot"], expected)
    _, out, _ = metasage("info", f"{target}#2", "--json", "-")
    facts = json.loads(out)
    assert (facts["problem"], facts["n"], facts["maximum length"]) == ("op", 20, 2)
    _, out, _ = metasage("info", target)
    assert re.search(r"instances +3", out)


@pytest.mark.parametrize("size", [10, 110])
def test_info_says_what_solve_will_use(metasage, tmp_path, size):
    metasage("generate", "tsp", "--size", size, "--count", 1, "--seed", 7, "-o", tmp_path / "s.npz")
    _, out, _ = metasage("info", tmp_path / "s.npz", "--json", "-")
    facts = json.loads(out)
    _, out, _ = metasage("solve", tmp_path / "s.npz#0", "--iterations", 1, "--rollouts", 4,
                         "--json", "-")  # fmt: skip
    used = json.loads(out)
    for name in ("method", "model", "improve", "engine"):
        assert facts[name] == used[name]
    assert (facts["sml"] or "none") == used["sml"]
    _, out, _ = metasage("solve", tmp_path / "s.npz#0", "--time-limit", 3.5, "--json", "-")
    assert facts["method under a time limit"] == json.loads(out)["method"] == "local-search"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["info", "missing.vrp"], "metasage: missing.vrp: the file does not exist."),
        (["info"], "metasage: Missing argument 'FILE'."),
        (["fly"], "metasage: No such command 'fly'."),
        (["generate", "tsp", "--size", "0", "-o", "x.npz"], "metasage: size is 0 and must"),
        (["generate", "vrp", "--size", "5", "-o", "x.npz"], "metasage: problem 'vrp' is not one"),
        (
            ["generate", "tsp", "--size", "5", "--capacity", "9", "-o", "x.npz"],
            "metasage: capacity",
        ),
        (["generate", "tsp", "--size", "5", "-o", "no/x.npz"], "metasage: no/x.npz: "),
        (["info", str(EXAMPLES / "square.vrp"), "--round", "odd"], "rounding 'odd'"),
        (["info", str(EXAMPLES / "square.sol")], "this is a solution"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(metasage, monkeypatch, tmp_path, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    code, out, err = metasage(*arguments)
    assert code == 2
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1


def test_a_broken_line_is_named(metasage, tmp_path):
    broken = tmp_path / "broken.vrp"
    broken.write_text((EXAMPLES / "square.vrp").read_text().replace("3 10 90", "3 ten 90"))
    code, _, err = metasage("info", broken)
    assert code == 2
    assert err.startswith(f"metasage: {broken}:10: ")
