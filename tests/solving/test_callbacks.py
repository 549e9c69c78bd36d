"""Whoever listens hears of every part of a search, and can end it."""

import threading
import time

import pytest
from helpers import instance_of

import metasage
from metasage.problems import check


class Witness(metasage.Callbacks):
    """Writes down all that it is told."""

    def __init__(self):
        self.stages, self.found, self.iterations, self.ends = [], [], [], []
        self.began = time.monotonic()

    def on_stage(self, name):
        self.stages.append(name)

    def on_best(self, solution, objective, iteration):
        self.found.append((solution, objective, iteration, self.stages[-1]))

    def on_iteration(self, iteration, objective, seconds):
        self.iterations.append((iteration, objective))

    def on_end(self, result):
        self.ends.append(result)


def test_every_improvement_is_told_with_its_solution_whoever_found_it(model):
    witness = Witness()
    instance = instance_of(model, 60)
    result = metasage.solve(
        instance, metasage.Sampling(iterations=5), model=model, callbacks=witness
    )
    assert witness.stages == ["network", "construction", "local search"]
    assert witness.ends == [result]
    assert [number for number, _ in witness.iterations] == [1, 2, 3, 4, 5]
    parts = {part for _, _, _, part in witness.found}
    assert {"network", "local search"} <= parts
    for solution, objective, _, _ in witness.found:
        verdict = check(instance, solution)
        assert verdict.feasible
        assert verdict.objective == objective
    assert [(o, k) for _, o, k, _ in witness.found] == [(o, k) for _, k, o in result.curve]
    assert witness.found[-1][0] == result.best
    assert result.found_by == witness.found[-1][3]


def test_an_initial_solution_that_stays_the_best_is_named(model):
    instance = instance_of(model, 60)
    first = metasage.solve(instance, time_limit=0.5)
    again = metasage.solve(
        instance, time_limit=0.01, initial_solution=first.best, callbacks=(witness := Witness())
    )
    if again.best == first.best:
        assert again.found_by == "initial solution"
        assert not witness.found
    assert instance.problem.sign * again.objective <= instance.problem.sign * first.objective


@pytest.mark.parametrize("moment", ["on_start", "on_stage", "on_best", "on_iteration", "on_end"])
def test_what_a_callback_raises_comes_out(tsp_model, moment):
    def fail(*arguments):
        raise ZeroDivisionError(moment)

    callbacks = metasage.Callbacks()
    setattr(callbacks, moment, fail)
    with pytest.raises(ZeroDivisionError, match=moment):
        metasage.solve(
            instance_of(tsp_model), metasage.Sampling(iterations=2), model=tsp_model,
            callbacks=callbacks,
        )  # fmt: skip


def test_what_a_callback_raises_in_local_search_comes_out():
    class Impatient(metasage.Callbacks):
        def on_stage(self, name):
            self.stage = name

        def on_best(self, solution, objective, iteration):
            if self.stage == "local search":
                raise ZeroDivisionError

    instance = metasage.generate("tsp", 300, 1, 1)[0]
    with pytest.raises(ZeroDivisionError):
        metasage.solve(instance, time_limit=20, callbacks=Impatient())


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "pctsp", "op"])
@pytest.mark.parametrize("kind", ["event", "function", "target"])
def test_a_stop_ends_local_search_at_once(problem, kind):
    instance = metasage.generate(problem, 1000, 1, 1)[0]
    event, asked = threading.Event(), []

    def own(iteration, objective):
        if event.is_set():
            asked.append(time.monotonic())
        return event.is_set()

    # Any solution is as good as the target; else the event comes in the middle of the search.
    worst = 0.0 if problem == "op" else 1e9
    stop = {"event": event, "function": own, "target": metasage.Target(worst)}[kind]
    moment = []
    threading.Timer(0.6, lambda: (moment.append(time.monotonic()), event.set())).start()
    result = metasage.solve(instance, stop=stop, time_limit=60)
    took = time.monotonic() - moment[0] if kind != "target" else 0.0
    assert result.feasible
    assert not result.interrupted
    # A tenth of a second where nothing else runs.
    assert took < 1.0
    assert result.seconds < 20


def test_one_limit_serves_several_searches():
    limit = metasage.MaxRuntime(0.4)
    instance = metasage.generate("tsp", 100, 1, 1)[0]
    for _ in range(2):
        began = time.monotonic()
        metasage.solve(instance, stop=limit)
        assert 0.2 < time.monotonic() - began < 1.5


def test_a_slow_callback_is_told_as_often_and_a_stop_sees_the_best_so_far():
    class Slow(Witness):
        def on_best(self, solution, objective, iteration):
            super().on_best(solution, objective, iteration)
            time.sleep(0.02)

    seen = []

    def watch(iteration, objective):
        seen.append(objective)
        return False

    instance = metasage.generate("cvrp", 150, 1, 1)[0]
    slow = Slow()
    metasage.solve(instance, stop=watch, time_limit=2, callbacks=slow, seed=1)
    known = [objective for objective in seen if objective is not None]
    assert known == sorted(known, reverse=True)
    told = {objective for _, objective, _, _ in slow.found}
    assert len(told) >= len(set(known)) // 2
