"""An interrupt that Python cannot raise where it arrives is not lost."""

import subprocess
import sys

LOST_IN_A_DESTRUCTOR = """
import os, signal, sys, time
import metasage.cli.run

class Last:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.1)

def run(arguments):
    Last()
    time.sleep(20)
    return 0

metasage.cli.run.run = run
from metasage.cli.__main__ import main
main()
"""


def test_an_interrupt_inside_a_destructor_ends_the_program():
    done = subprocess.run(
        [sys.executable, "-c", LOST_IN_A_DESTRUCTOR], capture_output=True, timeout=15, check=False
    )
    assert done.returncode == 130
    assert done.stderr == b"metasage: interrupted.\n"
