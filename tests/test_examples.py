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
    found = {(row[0], row[1]): float(row[2]) for row in rows}
    for policy in ("fourier", "trained"):
        assert found[policy, "sage"] < found[policy, "sample"]
        assert found[policy, "sage"] < found[policy, "greedy"]


EVERY_METHOD = """
import sys, warnings
sys.path.insert(0, sys.argv[1])
import metasage, researcher
from metasage.adaptation.registry import METHODS

fourier, trained = researcher.Model(researcher.FourierPolicy()), researcher.train_briefly("run")
instance = metasage.generate("path", 20, 1, 1)[0]
for name in METHODS:
    found = metasage.solve(instance, name, model=trained, iterations=2)
    assert found.feasible and found.settings["engine"] == "torch", name
    try:
        assert metasage.solve(instance, name, model=fourier, iterations=2).feasible
    except metasage.InputError as error:
        assert name == "as" and "this one has none" in str(error), error
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    found = metasage.solve(instance, "greedy", model=trained, improve="final")
assert [str(one.message) for one in told] == [
    "there is no local search for path; the network works alone."]
assert found.settings["improve"] == "none"
# Few nodes are solved by trying everything, whatever the problem.
tiny = metasage.generate("path", 4, 1, 1)[0]
assert metasage.solve(tiny, time_limit=1).found_by == "construction"
try:
    metasage.solve(instance)
except metasage.InputError as error:
    assert "no network for path comes with the package" in str(error)
print("done")
"""


def test_a_fifth_problem_works_with_every_method(tmp_path):
    command = [sys.executable, "-c", EVERY_METHOD, str(EXAMPLES)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
