"""Processes that were forked: an answer or a sentence, and never a wait without end."""

import subprocess
import sys

import pytest

PROGRAM = """
import multiprocessing, sys
import metasage

before, method = sys.argv[1:]
instance = metasage.generate("cvrp", 20, 1, 1)[0]
options = {"method": "sage", "iterations": 1} if method == "sage" else {"time_limit": 0.2}

def work(_):
    try:
        return metasage.solve(instance, **options).feasible
    except metasage.InputError as error:
        return str(error)

if before == "used":
    assert work(0) is True
with multiprocessing.get_context("fork").Pool(1) as pool:
    print(pool.map_async(work, [1]).get(60)[0])
"""


@pytest.mark.parametrize("method", ["sage", "local search"])
@pytest.mark.parametrize("before", ["used", "not used"])
def test_a_forked_process_answers(before, method):
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, before, method],
        capture_output=True, text=True, timeout=100, check=True,
    )  # fmt: skip
    if before == "used":
        assert found.stdout.endswith("start it by multiprocessing.get_context('spawn').\n")
    else:
        assert found.stdout == "True\n"
