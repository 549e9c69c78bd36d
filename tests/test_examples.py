"""The examples run as they are."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name, *arguments):
    """Run an example in a process of its own: it registers a problem."""
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_policy_and_a_problem_of_ones_own_are_adapted():
    rows = [line.split() for line in run("researcher.py").splitlines()]
    found = {row[0]: float(row[1]) for row in rows}
    assert found["sage"] < found["sample"]
    assert found["sage"] < found["greedy"]
