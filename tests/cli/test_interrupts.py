"""Interrupts are not lost, and lose nothing."""

import signal
import subprocess
import sys
import time

LOST_IN_A_DESTRUCTOR = """
import os, signal, sys, time
import metasage.cli.app

class Last:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.1)

def run(arguments):
    Last()
    time.sleep(20)
    return 0

metasage.cli.app.run = run
from metasage.cli.__main__ import main
main()
"""


def test_an_interrupt_inside_a_destructor_ends_the_program():
    done = subprocess.run(
        [sys.executable, "-c", LOST_IN_A_DESTRUCTOR], capture_output=True, timeout=15, check=False
    )
    assert done.returncode == 130
    assert done.stderr == b"metasage: interrupted.\n"


def test_an_impatient_user_loses_no_solution(examples, tmp_path):
    target = tmp_path / "best.sol"
    command = [sys.executable, "-m", "metasage.cli", "solve", str(examples / "town200.vrp")]
    running = subprocess.Popen(
        [*command, "--time-limit", "60", "-o", str(target)], stderr=subprocess.PIPE
    )
    time.sleep(4)
    while running.poll() is None:
        running.send_signal(signal.SIGINT)
        time.sleep(0.01)
    assert running.returncode == 130
    assert b"Traceback" not in running.stderr.read()
    assert target.exists()


def test_a_program_that_shall_survive_its_terminal_does():
    code = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from metasage.runtime.interrupts import ending_signals\n"
        "print([int(number) for number in ending_signals()])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert out.strip() == str([int(signal.SIGINT), int(signal.SIGTERM)]).encode()
