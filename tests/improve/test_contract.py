"""Threads, limits, degenerate instances and mistakes."""

import signal
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pytest
from improve_cases import PROBLEMS, make_instance, may_fail, no_worse, objective

from metasage.errors import InputError
from metasage.improve import improve, make_improver
from metasage.problems import Solution, check
from metasage.problems.sets import generate
from metasage.problems.tsp import Tsp
from metasage.runtime.interrupts import Patience


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_seed_decides_whatever_the_number_of_threads(problem):
    instance = make_instance(problem, 100, 1)
    kicks = 60 if problem == "cvrp" else 1200
    runs = [improve(instance, kicks=kicks, seed=4, threads=threads) for threads in (1, 2, 3)]
    assert runs[0] == runs[1] == runs[2]


def test_another_seed_is_another_search():
    instance = make_instance("tsp", 400, 1)
    assert improve(instance, kicks=50, seed=1) != improve(instance, kicks=50, seed=2)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_more_kicks_are_no_worse(problem):
    instance = make_instance(problem, 60, 2)
    improver = make_improver(instance)
    few = improver.improve(kicks=10)
    assert no_worse(instance, improver.improve([few], kicks=200), few)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_time_limit_is_kept(problem):
    improver = make_improver(make_instance(problem, 300, 3))
    start = improver.construct()
    improver.improve([start], kicks=1)  # imports
    began = time.monotonic()
    found = improver.improve([start], seconds=0.4)
    assert 0.3 < time.monotonic() - began < 0.7
    assert check(improver.instance, found).feasible


def test_a_deadline_ends_the_first_descent_of_a_large_instance():
    instance = make_instance("tsp", 10_000, 0)
    improver = make_improver(instance)
    start = Solution([np.random.default_rng(0).permutation(10_000)])
    began = time.monotonic()
    found = improver.improve([start], patience=Patience(began + 0.05))
    assert time.monotonic() - began < 0.35
    assert no_worse(instance, found, start)
    assert objective(instance, improver.polish([found])[0]) < 0.9 * objective(instance, found)


def test_the_curve_falls():
    points = []
    improve(make_instance("tsp", 500, 1), seconds=0.3, listener=points.append)
    assert len(points) > 1
    assert all(a > b for a, b in pairwise(points))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_while_it_searches_the_best_is_what_it_told_of(problem):
    improver = make_improver(make_instance(problem, 60, 1))
    told = []

    def listen(value):
        found = check(improver.instance, improver.best)
        told.append((value, found.objective, found.feasible))

    improver.improve(kicks=500, listener=listen)
    assert told
    assert all(value == pytest.approx(measured) and good for value, measured, good in told)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("stop", ["listener", "patience"])
def test_a_search_ends_when_it_is_told_to(problem, stop):
    improver = make_improver(make_instance(problem, 300, 1))
    began = time.monotonic()
    patience = Patience(began + 60, stopped=lambda: stop == "patience")
    found = improver.improve(patience=patience, listener=lambda _: stop != "listener")
    assert time.monotonic() - began < 10
    assert check(improver.instance, found).feasible


@pytest.mark.parametrize("problem", PROBLEMS)
def test_what_a_listener_or_a_stop_raises_comes_out(problem):
    improver = make_improver(make_instance(problem, 300, 1))

    def fail(*_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        improver.improve(seconds=30, listener=fail)
    with pytest.raises(ZeroDivisionError):
        improver.improve(patience=Patience(time.monotonic() + 30, fail))


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("copies", [1, 2, 3, 4, 5, 40])
def test_all_places_may_be_the_same(problem, copies):
    spread = make_instance(problem, copies, 1)
    same = type(spread)(**{**vars(spread), "coords": np.full((copies, 2), 0.5)})
    found = improve(same, kicks=30)
    assert check(same, found).feasible or may_fail(same)


def test_repeated_places_are_joined():
    # Each place of a square has 30 twins, more than the neighbour lists are long.
    corners = np.repeat([[0, 0], [0, 1], [1, 1], [1, 0]], 30, axis=0)
    instance = Tsp(coords=np.random.default_rng(0).permutation(corners))
    assert objective(instance, improve(instance, kicks=500)) == pytest.approx(4.0)


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("problem", PROBLEMS)
def test_an_interrupt_leaves_the_best_so_far(problem):
    instance = make_instance(problem, 300, 1)
    improver = make_improver(instance)
    start = improver.construct()
    improver.improve([start], kicks=0)  # imports
    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            improver.improve([start], seconds=3)
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert time.monotonic() - began < 0.6
    assert no_worse(instance, improver.best, start)
    assert improver.best != start


def test_an_error_of_the_listener_ends_the_search():
    with pytest.raises(KeyboardInterrupt):
        improve(make_instance("tsp", 50, 1), seconds=3, listener=interrupt)


def test_mistakes_are_named():
    instance = make_instance("tsp", 5, 1)
    with pytest.raises(InputError, match="seconds or of kicks"):
        improve(instance)
    with pytest.raises(InputError, match="infeasible: node 4 not visited"):
        improve(instance, [Solution([[0, 1, 2, 3]])], kicks=1)
    with pytest.raises(InputError, match="kicks is -1"):
        improve(instance, kicks=-1)
    with pytest.raises(InputError, match="threads is 0"):
        improve(instance, kicks=1, threads=0)


def test_torch_is_not_imported():
    code = """
import sys
import numpy as np
from metasage.improve import improve
from metasage.problems.tsp import Tsp
improve(Tsp(coords=np.random.rand(20, 2)), kicks=10)
sys.exit("torch" in sys.modules or "pyvrp" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("problem", ["pctsp", "op"])
def test_a_search_of_very_many_nodes_ends_in_time(problem):
    """What is far beyond the bound when the time is over is not brought back node by node."""
    (instance,) = generate(problem, 60_000, 1, 1)
    improver = make_improver(instance, 2)
    starts = improver.starts(Patience(time.monotonic() + 60))
    began = time.monotonic()
    improver.search(starts, patience=Patience(began + 1.0))
    assert time.monotonic() - began < 2.5
    assert check(instance, improver.best).feasible
