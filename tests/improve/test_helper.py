"""The second process of a CVRP search ends with the first, however that ends."""

import os
import signal
import subprocess
import sys
import time

SEARCH = """
import metasage
from metasage.improve import improve
print("begun", flush=True)
improve(metasage.generate("cvrp", 60, 1, 1)[0], seconds=60, threads=2)
"""


def helpers_of(group):
    """Processes of a helper that were started by a process, by their environment's mark."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                is_helper = b"metasage.improve.helper" in file.read()
            with open(f"/proc/{name}/environ", "rb") as file:
                is_ours = f"METASAGE_TEST={group}".encode() in file.read()
        except OSError:
            continue
        if is_helper and is_ours:
            found.append(int(name))
    return found


def test_a_killed_search_leaves_no_process_behind():
    mark = f"{os.getpid()}-{time.monotonic_ns()}"
    search = subprocess.Popen(
        [sys.executable, "-c", SEARCH],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"METASAGE_TEST": mark},
    )
    assert search.stdout is not None
    search.stdout.readline()
    limit = time.monotonic() + 30
    while not helpers_of(mark) and time.monotonic() < limit:
        time.sleep(0.1)
    assert helpers_of(mark)
    time.sleep(2)
    search.send_signal(signal.SIGKILL)
    search.wait()
    while helpers_of(mark) and time.monotonic() < limit:
        time.sleep(0.1)
    assert not helpers_of(mark)
    assert search.stderr is not None
    assert search.stderr.read() == b""
