"""Greedy and sampling, and what all methods share."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from helpers import instance_of, solve_alone

from metasage.adaptation.active_search import ActiveSearch
from metasage.adaptation.greedy import Greedy
from metasage.adaptation.loop import Loop
from metasage.adaptation.sage import Sage
from metasage.adaptation.sampling import Sampling
from metasage.adaptation.task import Task
from metasage.errors import InfeasibleError, InputError, NetworkLeftOut
from metasage.problems import Solution, check
from metasage.problems.cvrp import Cvrp
from metasage.problems.metric import METRICS
from metasage.problems.op import Op
from metasage.problems.sets import generate
from metasage.problems.tsp import Tsp
from metasage.rollout import get_engine
from metasage.rollout.interface import DeadlineReached, Decoding
from metasage.runtime import processes
from metasage.solving.callbacks import Callbacks
from metasage.solving.evaluate import evaluate
from metasage.solving.local import construct
from metasage.solving.record import Record
from metasage.solving.solve import solve
from metasage.stop import FirstOf, MaxIterations, MaxRuntime, NoImprovement, Target


@pytest.mark.parametrize("method", [Greedy(), Greedy(augment=8), Sampling(iterations=3)])
def test_results_are_feasible_and_measured_by_the_checker(model, method):
    instance = instance_of(model)
    result = solve_alone(instance, method, model=model)
    assert result.feasible
    assert result.objective == check(instance, result.best).objective
    assert result.curve[-1][2] == pytest.approx(result.objective, rel=1e-12)
    assert result.iterations == (method.iterations or 1)


def test_same_seed_same_result_whatever_the_threads(model):
    instance = instance_of(model)
    method = Sampling(iterations=2, augment=2)
    runs = [solve_alone(instance, method, model=model, seed=5, threads=t) for t in (1, 2, 1)]
    assert runs[0].best == runs[1].best == runs[2].best
    other = solve_alone(instance, method, model=model, seed=6)
    assert other.best != runs[0].best


def test_chunks_do_not_change_the_result(model):
    instance = instance_of(model)
    for method in (Sampling(iterations=2, rollouts=150), Sage(iterations=3, rollouts=150)):
        whole = solve_alone(instance, method, model=model)
        pieces = solve_alone(instance, method, model=model, max_memory=4e5)
        assert pieces.best == whole.best


def test_engines_agree(model):
    instance = instance_of(model)
    runs = [
        solve_alone(instance, Greedy(), model=model, engine=engine)
        for engine in ("native", "torch")
    ]
    assert runs[0].objective == pytest.approx(runs[1].objective, rel=1e-6)


def test_more_rollouts_and_copies_are_never_worse(tsp_model):
    instance = instance_of(tsp_model)
    single = solve_alone(instance, Greedy(rollouts=20), model=tsp_model).objective
    assert solve_alone(instance, Greedy(augment=8), model=tsp_model).objective <= single


def test_curves_only_improve(model):
    result = solve_alone(instance_of(model), Sampling(iterations=20, rollouts=3), model=model)
    values = np.array([objective for _, _, objective in result.curve])
    steps = np.diff(values) if model.config.problem == "op" else -np.diff(values)
    assert (steps > 0).all()
    assert [iteration for _, iteration, _ in result.curve] == sorted(
        iteration for _, iteration, _ in result.curve
    )


def test_the_incumbent_is_chosen_by_rounded_lengths(tsp_model):
    coords = np.random.default_rng(0).integers(0, 6, (12, 2))
    instance = Tsp(coords=coords, metric=METRICS["EUC_2D"])
    result = solve_alone(instance, Sampling(iterations=2), model=tsp_model)
    assert result.objective == int(result.objective)
    assert result.objective == check(instance, result.best).objective


def test_an_initial_solution_is_never_made_worse(model):
    instance = instance_of(model)
    best = solve_alone(instance, Sampling(iterations=30), model=model)
    again = solve_alone(
        instance, Sampling(iterations=1, rollouts=1), model=model, initial_solution=best.best
    )
    assert again.objective == best.objective
    wrong = Solution([[1, 1]])
    with pytest.raises(InputError, match="initial solution is not feasible"):
        solve_alone(instance, model=model, initial_solution=wrong)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_tiny_instances_are_solved(model, size):
    instance = instance_of(model, size, seed=11)
    if instance.problem.infeasibility(instance):
        with pytest.raises(InfeasibleError):
            solve_alone(instance, model=model)
    else:
        assert solve_alone(instance, Sampling(iterations=1), model=model).feasible


def test_equal_places_are_solved(tsp_model):
    assert solve_alone(Tsp(coords=[[7, 7]] * 5), model=tsp_model).objective == 0


def test_an_impossible_demand_is_named():
    instance = Cvrp(coords=[[0, 0], [1, 1]], demand=[0, 9], capacity=5)
    with pytest.raises(InfeasibleError, match="customer 1 demands 9"):
        solve_alone(instance)


def test_the_wrong_model_is_refused(tsp_model):
    with pytest.raises(InputError, match="trained for tsp and cannot solve cvrp"):
        solve_alone(generate("cvrp", 5)[0], model=tsp_model)


def test_too_little_memory_is_said_before_it_is_taken(tsp_model):
    with pytest.raises(InputError, match="GiB of memory"):
        solve_alone(generate("tsp", 2000)[0], model=tsp_model, max_memory=1e6)


def test_local_search_goes_on_where_a_network_has_too_little_memory(tsp_model):
    with pytest.warns(NetworkLeftOut, match="GiB may be used. Local search goes on alone"):
        result = solve(generate("tsp", 60)[0], model=tsp_model, max_memory=1e4)
    assert result.feasible
    assert [name for name, _, _ in result.stages] == ["construction", "local search"]


@pytest.mark.parametrize("limit", [0.0, 0.3])
def test_time_limits_hold_and_always_give_a_solution(model, limit):
    instance = instance_of(model, 300)
    begin = time.monotonic()
    result = solve_alone(instance, Sampling(rollouts=300), MaxRuntime(limit), model=model)
    assert time.monotonic() - begin < limit + 1.0
    assert result.feasible


def test_stopping_criteria_compose(tsp_model):
    instance = instance_of(tsp_model)

    def count(stop):
        return solve_alone(instance, Sampling(rollouts=2), stop, model=tsp_model).iterations

    assert count(MaxIterations(7)) == 7
    assert count(FirstOf(MaxIterations(50), MaxIterations(4))) == 4
    assert count(Target(1e9)) == 1
    assert 5 <= count(NoImprovement(5)) < 500
    assert count(FirstOf(Target(0.0), MaxIterations(3))) == 3


def test_an_interrupt_returns_the_best_so_far(tsp_model):
    before = signal.getsignal(signal.SIGINT)

    class Interrupter(Callbacks):
        def on_iteration(self, iteration, objective, seconds):
            if iteration == 5:
                threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()

    result = solve_alone(
        instance_of(tsp_model),
        Sampling(rollouts=4, iterations=10**6),
        MaxRuntime(30),
        model=tsp_model,
        callbacks=Interrupter(),
    )
    assert result.interrupted
    assert result.feasible
    assert 5 <= result.iterations < 10**6
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("built", [True, False])
@pytest.mark.parametrize("size", [1, 5, 60])
def test_an_answer_without_network_is_feasible(model, size, built, monkeypatch):
    instance = instance_of(model, size, seed=2)
    if not built:
        monkeypatch.setattr("metasage.runtime.resources.is_built", lambda: False)
    if not instance.problem.infeasibility(instance):
        assert check(instance, construct(instance, 1)).feasible


def test_a_set_is_evaluated_in_order_and_in_parallel(tsp_model, tmp_path):
    instances = generate("tsp", 10, 4, seed=3)
    path = tmp_path / "model.safetensors"
    tsp_model.save(path)
    one = evaluate(instances, Greedy(), model=str(path))
    two = evaluate(instances, Greedy(), model=str(path), jobs=2, limit=3)
    assert two.objectives == one.objectives[:3]
    assert one.mean == pytest.approx(np.mean(one.objectives))
    assert one.gap([value / 1.1 for value in one.objectives]) == pytest.approx(0.1)
    expected = [
        solve_alone(instance, Greedy(), model=tsp_model).objective for instance in instances
    ]
    assert one.objectives == expected


def test_a_process_that_dies_is_told_and_loses_nothing(tsp_model, monkeypatch):
    started = []

    def start(*arguments):
        started.append(processes.start(*arguments))
        return started[-1]

    def kill_all(index, result):
        for process in started:
            process.kill()

    monkeypatch.setattr("metasage.runtime.workers.start", start)
    instances = generate("tsp", 30, 400, seed=3)
    found = evaluate(instances, Greedy(), model=tsp_model, jobs=2, listener=kill_all)
    assert 1 <= len(found.objectives) < 400
    assert "a process died after" in found.failure
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)


@pytest.mark.parametrize("improve", ["none", "final"])
def test_a_depot_alone_needs_no_rollouts(improve):
    alone = Op(coords=[[0.5, 0.5]], prize=[3.0], max_length=1.0)
    found = solve(alone, Sage(iterations=2), improve=improve)
    assert found.feasible
    assert found.objective == 3


def test_a_negative_number_of_threads_is_refused(tsp_model):
    with pytest.raises(InputError, match="threads is -1"):
        solve_alone(instance_of(tsp_model), model=tsp_model, threads=-1)


def test_rollouts_cut_off_in_the_first_iteration_are_those_of_the_network(tsp_model, monkeypatch):
    def late(task, *arguments):
        reached = DeadlineReached()
        reached.found = rollout(task, *arguments)
        raise reached

    rollout = Task.rollout
    monkeypatch.setattr(Task, "rollout", late)
    found = solve_alone(instance_of(tsp_model), Sage(iterations=2), model=tsp_model)
    assert [name for name, _, _ in found.stages] == ["network"]


def test_a_set_that_was_interrupted_at_once_has_no_mean(tsp_model, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("metasage.solving.evaluate.solve", interrupt)
    found = evaluate(generate("tsp", 10, 2, seed=3), Greedy(), model="pomo-tsp")
    assert found.interrupted
    assert found.mean is None
    assert found.gap([1.0, 2.0]) is None


def test_what_instances_chose_themselves_is_a_list(cvrp_model, monkeypatch):
    monkeypatch.setattr("metasage.policies.library.find_model", lambda *_: cvrp_model)
    alphas = iter((10.0, 40.0))
    monkeypatch.setattr(
        "metasage.adaptation.greedy_start.GreedyStart.chosen", lambda _: {"alpha": next(alphas)}
    )
    found = evaluate(generate("cvrp", 10, 2, seed=3), Sage(iterations=2), model="any")
    parameters = found.to_dict()["parameters"]
    assert parameters["alpha"] == [10.0, 40.0]
    assert parameters["iterations"] == 2


def test_an_interrupt_while_encoding_returns_the_initial_solution(tsp_model, monkeypatch):
    instance = instance_of(tsp_model)
    given = construct(instance, 1)

    encode = Task.of

    def interrupted(*arguments, **options):
        os.kill(os.getpid(), signal.SIGINT)
        return encode(*arguments, **options)

    monkeypatch.setattr("metasage.solving.network.Task.of", interrupted)
    result = solve_alone(instance, Sampling(), model=tsp_model, initial_solution=given)
    assert result.interrupted
    assert result.best == given
    assert [row[1:] for row in result.curve] == [(0, result.objective)]


def test_finished_rollouts_survive_the_deadline(tsp_model):
    """Of the chunks of an iteration that the deadline cuts, the first ones count."""
    instance = instance_of(tsp_model, 70)
    engine = get_engine("native", tsp_model.config)
    task = Task.of(instance, tsp_model.policy, engine, rollouts=130, copies=1, seed=1)
    task.max_memory = 1.0
    assert task.chunk(learning=False) == 64
    whole = task.rollout(Decoding(), 0)
    roll, calls = engine.rollout, []

    def late(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise DeadlineReached
        return roll(*arguments)

    engine.rollout = late
    record = Record(instance)
    Loop(record, 1).run(Sampling().start(task))
    assert record.objective == pytest.approx(float(whole.cost[0, :64].min()), rel=1e-5)


def test_what_cannot_be_encoded_in_time_is_answered_without_the_network(tsp_model):
    instance = instance_of(tsp_model, 3000)
    result = solve_alone(instance, Sampling(), MaxRuntime(0.05), model=tsp_model)
    assert result.objective == check(instance, construct(instance, 1)).objective
    assert result.iterations == 0
    assert len(result.curve) == 1


def test_greedy_does_not_repeat_itself_until_the_limit(tsp_model):
    result = solve_alone(instance_of(tsp_model), Greedy(), MaxRuntime(60), model=tsp_model)
    assert result.iterations == 1
    assert result.seconds < 30


@pytest.mark.parametrize("method", [Sampling(iterations=1), ActiveSearch(iterations=1)])
def test_interrupts_reach_into_long_rollouts(tsp_model, method):
    instance = instance_of(tsp_model, 1500)
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    result = solve_alone(instance, method, model=tsp_model)
    assert result.interrupted
    assert result.feasible
    assert time.monotonic() - begin < 4.0
