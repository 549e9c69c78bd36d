"""Local search after the network, beside it, and instead of it."""

import signal
import subprocess
import sys
import threading
import time

import pytest
from helpers import instance_of, solve_alone

from metasage.adaptation.greedy import Greedy
from metasage.adaptation.sage import Sage
from metasage.errors import InputError
from metasage.problems import check
from metasage.solving.solve import solve
from metasage.stop import FirstOf, MaxRuntime, Target


def better(instance, a, b):
    """Whether a is at least as good as b."""
    return a <= b + 1e-9 if instance.problem.sense == "min" else a >= b - 1e-9


@pytest.mark.parametrize("improve", ["final", "memetic"])
def test_local_search_is_never_worse_and_measured_by_the_checker(model, improve):
    instance = instance_of(model, 30)
    alone = solve_alone(instance, Sage(iterations=3), model=model)
    found = solve(instance, Sage(iterations=3), model=model, improve=improve)
    assert found.feasible
    assert found.objective == check(instance, found.best).objective
    assert found.objective != alone.objective, "an untrained network leaves room"
    assert better(instance, found.objective, alone.objective)
    assert found.settings["improve"] == improve
    assert found.curve[-1][2] == pytest.approx(found.objective)
    again = solve(instance, Sage(iterations=3), model=model, improve=improve)
    assert again.best == found.best


def test_a_memetic_network_imitates_what_was_polished(tsp_model):
    instance = instance_of(tsp_model, 30)
    plain = solve_alone(instance, Sage(iterations=3), model=tsp_model)
    memetic = solve(instance, Sage(iterations=3), model=tsp_model, improve="memetic")
    first_plain = min(o for _, k, o in plain.curve if k == 0)
    first_memetic = min(o for _, k, o in memetic.curve if k == 0)
    assert first_memetic < first_plain


@pytest.mark.parametrize("improve", ["final", "memetic"])
def test_the_time_limit_is_kept(model, improve):
    begin = time.monotonic()
    result = solve(instance_of(model, 60), Sage(), MaxRuntime(2), model=model, improve=improve)
    assert time.monotonic() - begin < 3
    assert result.feasible
    assert result.iterations > 0


def test_an_interrupt_in_the_local_search_keeps_the_best(model):
    instance = instance_of(model, 60)
    timer = threading.Timer(1.5, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    result = solve(
        instance, Greedy(iterations=1), MaxRuntime(30), model=model, improve="final"
    )  # fmt: skip
    assert result.interrupted
    assert result.seconds < 10
    assert result.feasible


def test_local_search_alone_answers_without_a_network(model):
    instance = instance_of(model, 30)
    result = solve(instance, time_limit=0.5)
    assert result.feasible
    assert result.settings["model"] == "none"
    kept = solve(instance, time_limit=0.01, initial_solution=result.best)
    assert better(instance, kept.objective, result.objective)


def test_it_does_not_even_import_torch():
    code = (
        "import sys, metasage; r = metasage.solve(metasage.generate('op', 50, 1, 1)[0], "
        "time_limit=0.5); assert r.feasible; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_names_are_one_sentence(tsp_model):
    with pytest.raises(InputError, match="improve is 'magic' and must be one of none, final"):
        solve(instance_of(tsp_model, 30), Greedy(), model=tsp_model, improve="magic")


@pytest.mark.parametrize(("target", "stages"), [(1e9, ["network"]), (None, None)])
def test_a_target_ends_the_local_search_too(tsp_model, target, stages):
    instance = instance_of(tsp_model, 60)
    # What the untrained network does not reach, and local search soon does.
    wanted = target or 1.05 * solve(instance, time_limit=1).objective
    stop = FirstOf(MaxRuntime(60), Target(wanted))
    found = solve(instance, Greedy(), stop, model=tsp_model, improve="final")
    assert found.objective <= wanted
    assert not found.interrupted
    assert found.seconds < 40
    if stages is not None:
        assert [name for name, _, _ in found.stages] == stages
