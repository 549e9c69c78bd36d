"""Signals are a flag that work looks at."""

import os
import signal
import time

from metasage.runtime.interrupts import end_work, interruptible
from metasage.runtime.resources import load


def test_what_came_before_an_inner_block_is_meant_for_it_too():
    with interruptible() as outer:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        with interruptible() as inner:
            assert inner()
        assert outer()
    with interruptible() as next_one:
        assert not next_one()
    assert not end_work(), "nothing is under way"


def test_handlers_of_a_program_are_left_alone():
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        with interruptible() as asked:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            assert heard == [1]
            assert not asked()
            end_work()
            assert asked()
    finally:
        signal.signal(signal.SIGINT, before)


def test_loading_is_given_up_at_once_where_nobody_waits(tmp_path, monkeypatch):
    (tmp_path / "slow_to_load.py").write_text("import time; time.sleep(1)\n")
    monkeypatch.syspath_prepend(tmp_path)
    began = time.monotonic()
    assert not load("slow_to_load", stopped=lambda: True)
    assert not load("slow_to_load", deadline=time.monotonic() + 0.1), "half of it is no module"
    assert time.monotonic() - began < 0.8
    assert load("slow_to_load")
