"""The search of routes, built so that it verifies itself after every step."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_routes_hold_in_the_middle_of_a_search(tmp_path):
    # Gains, sums, loads and limits of 60 instances: rounded or not, directed, with limits; under
    # the sanitizers, so that nothing is read or written where it should not be.
    program = tmp_path / "routes"
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover"]
    options = ["-std=c++17", "-O1", "-fopenmp", "-ffp-contract=off", *sanitizers]
    source = Path(__file__).with_name("routes_program.cpp")
    command = ["c++", *options, f"-I{ROOT / 'native'}", str(source), "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "searched 60 instances\n"
