"""How a time limit is divided, and when it is too short for anything."""

import os
import time

import pytest

import metasage
from metasage.errors import InputError
from metasage.solving.clock import Clock, require_time_to_answer, require_time_to_read


def test_the_search_ends_before_the_limit_and_earlier_in_large_instances():
    ends = [Clock(100.0, 60.0, nodes, improves=True).end for nodes in (10, 1000, 100_000)]
    assert ends == sorted(ends, reverse=True)
    assert ends[0] == pytest.approx(159.7, abs=0.01)
    assert 159.0 < ends[2] < 159.4
    assert Clock(0.0, 1.0, 10**6, improves=True).end >= 0.8
    assert Clock(0.0, None, 10, improves=True).end is None


def test_a_file_that_takes_longer_to_read_than_there_is_time_is_refused(tmp_path):
    path = tmp_path / "large.tsp"
    with open(path, "wb") as file:
        os.truncate(file.fileno(), 300 * 2**20)  # nothing is written
    now = time.monotonic()
    require_time_to_read(str(path), 60.0, now)
    for name in (str(path), f"{path}#3"):
        with pytest.raises(InputError, match=r"takes about 31 s, and 2 s is the limit\.$"):
            require_time_to_read(name, 2.0, now)
    require_time_to_read(str(tmp_path / "none"), 1e-9, now)
    arrays = path.rename(tmp_path / "many.npz")
    require_time_to_read(f"{arrays}#3", 2.0, now)


def test_an_instance_for_which_no_answer_is_in_time_is_refused():
    (large,) = metasage.generate("cvrp", 60_000, 1, 1)
    now = time.monotonic()
    require_time_to_answer(large, None, now)
    require_time_to_answer(large, 10.0, now)
    with pytest.raises(InputError, match=r"60001 nodes: an answer takes about 2\.2 s"):
        require_time_to_answer(large, 1.0, now)
    with pytest.raises(InputError, match="of 10 s too little is left"):
        require_time_to_answer(large, 10.0, now - 9.0)
    with pytest.raises(InputError, match="an answer takes about"):
        metasage.solve(large, time_limit=1.0)
    (small,) = metasage.generate("op", 1000, 1, 1)
    require_time_to_answer(small, 0.01, now)
