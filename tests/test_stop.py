"""Stopping criteria by themselves."""

import threading
import time

import numpy as np
import pytest

from metasage import FirstOf, InputError, MaxIterations, MaxRuntime, NoImprovement, Target
from metasage.stop import as_criterion


def test_criteria_say_beforehand_what_they_know():
    both = FirstOf(MaxRuntime(9), FirstOf(MaxIterations(5), MaxRuntime(3)), Target(1.0))
    assert (both.seconds, both.iterations) == (3, 5)
    assert as_criterion(None).seconds is None
    assert not as_criterion(None)(10**9, -1e9)


def test_a_time_limit_counts_from_the_start_of_a_search():
    limit = MaxRuntime(10)
    limit.begin(time.monotonic() - 11, "min")
    assert limit(0, None)
    limit.begin(time.monotonic(), "min")
    assert not limit(0, None)


@pytest.mark.parametrize(("sense", "good", "bad"), [("min", 9.0, 11.0), ("max", 11.0, 9.0)])
def test_a_target_knows_which_way_is_better(sense, good, bad):
    target = FirstOf(Target(10.0))
    target.begin(0.0, sense)
    assert target(0, good)
    assert target(0, 10.0)
    assert not target(0, bad)
    assert not target(0, None)
    other = Target(10.0, "max" if sense == "min" else "min")
    other.begin(0.0, sense)
    assert other(0, bad)


def test_iterations_without_improvement_are_counted_anew_in_each_search():
    criterion = NoImprovement(3)
    for _ in range(2):
        criterion.begin(0.0, "min")
        answers = [criterion(k, 5.0 if k < 4 else 4.0) for k in range(8)]
        assert answers == [False, False, False, True, False, False, False, True]
        assert not criterion(0, 4.0), "local search has no iterations"


def test_functions_and_events_are_criteria():
    event = threading.Event()
    either = FirstOf(event, lambda iteration, objective: iteration > 3)
    assert not either(1, None)
    assert either(4, None)
    event.set()
    assert either(1, None)


def test_an_object_that_looks_like_a_criterion_is_told_and_asked_like_one():
    class Mine:
        seconds, iterations = np.float64(2.5), np.int64(7)
        told = None

        def begin(self, started, sense):
            self.told = started, sense

        def __call__(self, iteration, objective):
            return iteration > 2

    mine = Mine()
    both = FirstOf(mine, MaxRuntime(9))
    both.begin(1.0, "max")
    assert mine.told == (1.0, "max")
    assert (both.seconds, both.iterations) == (2.5, 7)
    assert as_criterion(mine)(3, None)


@pytest.mark.parametrize("wrong", [10, "ten seconds", MaxRuntime, [MaxRuntime(1)]])
def test_what_is_no_criterion_is_one_sentence(wrong):
    with pytest.raises(InputError, match="a criterion was expected"):
        as_criterion(wrong)


@pytest.mark.parametrize(
    "make",
    [
        lambda: MaxIterations(0),
        lambda: MaxIterations(2.5),
        lambda: MaxRuntime(-1),
        lambda: MaxRuntime(float("nan")),
        lambda: MaxRuntime("1"),
        lambda: NoImprovement(0),
        lambda: Target("low"),
        lambda: Target(1.0, "up"),
    ],
)
def test_wrong_numbers_are_one_sentence(make):
    with pytest.raises(InputError):
        make()
