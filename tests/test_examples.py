"""The examples run as they are."""

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_a_policy_and_a_problem_of_ones_own_are_adapted(capsys):
    runpy.run_path(str(EXAMPLES / "researcher.py"), run_name="__main__")
    found = {
        line.split()[0]: float(line.split()[1])
        for line in capsys.readouterr().out.split("\n")
        if line
    }
    assert found["sage"] < found["sample"]
    assert found["sage"] < found["greedy"]
