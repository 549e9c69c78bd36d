"""The examples run as they are."""

import subprocess
import sys
from pathlib import Path

from metasage import check, read, read_solution

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(folder, name, *arguments):
    """Run an example in a process of its own: it registers problems and writes files."""
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_a_file_is_solved_drawn_and_written(tmp_path):
    out = run(tmp_path, "practitioner.py", str(EXAMPLES / "town200.vrp"), "3")
    assert "town200: cvrp with 200 customers" in out
    assert (tmp_path / "town200.png").stat().st_size > 1000
    instance = read(EXAMPLES / "town200.vrp")
    assert check(instance, read_solution(tmp_path / "town200-solution.json", instance)).feasible


def test_a_policy_and_a_problem_of_ones_own_are_adapted(tmp_path):
    rows = [line.split() for line in run(tmp_path, "researcher.py").splitlines()]
    found = {row[0]: float(row[1]) for row in rows}
    assert found["sage"] < found["sample"]
    assert found["sage"] < found["greedy"]
