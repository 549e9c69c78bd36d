import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import metasage
from metasage.baselines import BaselineError, all_baselines, get_baseline
from metasage.baselines.base import Baseline
from metasage.baselines.pyvrp_model import PyvrpModel
from metasage.errors import InfeasibleError, InputError
from metasage.improve import improve
from metasage.problems import all_problems
from metasage.problems.metric import EXPLICIT, METRICS
from metasage.problems.scaling import units_above, units_below, with_whole_lengths

from .conftest import optimum, small_instance


def installed(name: str) -> Baseline:
    baseline = get_baseline(name)
    if not baseline.is_available():
        pytest.skip(f"{name} is not installed")
    return baseline


@pytest.mark.parametrize("name", ["pyvrp", "ortools", "lkh", "hgs"])
def test_strong_solvers_find_the_optimum(problem, name):
    baseline = installed(name)
    if problem not in baseline.problems:
        pytest.skip(f"{name} does not solve {problem}")
    instance = small_instance(problem, 1)
    heard = []
    outcome = baseline.solve(instance, 1.0, 1, lambda second, value: heard.append((second, value)))
    assert outcome.objective == pytest.approx(optimum(instance), rel=1e-6)
    assert outcome.curve == tuple(heard)
    assert outcome.curve[-1][1] == outcome.objective
    assert metasage.check(instance, outcome.solution).feasible


@pytest.mark.parametrize(
    ("name", "size", "seconds"),
    [
        ("pyvrp", 2, 0.8),
        ("ortools", 1, 1.0),
        ("lkh", 1, 2.0),
        ("lkh", 2, 2.0),
        ("hgs", 1, 1.0),
        ("hgs", 2, 1.0),
    ],
)
def test_tiny_instances_are_solved(problem, name, size, seconds):
    baseline = installed(name)
    if problem not in baseline.problems:
        pytest.skip(f"{name} does not solve {problem}")
    instance = metasage.generate(problem, size, 1, 6)[0]
    if instance.problem.infeasibility(instance):
        pytest.skip("such a customer does not bring enough")
    assert baseline.solve(instance, seconds, 1).objective == pytest.approx(optimum(instance))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("pyvrp", "pctsp"),
        ("pyvrp", "cvrp"),
        ("ortools", "op"),
        ("ortools", "pctsp"),
        ("hgs", "cvrp"),
    ],
)
def test_time_limits_are_kept(name, problem):
    baseline = installed(name)
    instance = metasage.generate(problem, 150, 1, 2)[0]
    started = time.monotonic()
    outcome = baseline.solve(instance, 1.5, 1)
    assert time.monotonic() - started < 2.5
    assert outcome.seconds < 2.5
    # A search of seconds is better than what takes none.
    simple = get_baseline("nearest").solve(instance, 1.0, 1).objective
    better = max if instance.problem.sense == "max" else min
    assert better(outcome.objective, simple) == outcome.objective


def test_lkh_that_does_not_finish_is_ended_and_says_so():
    instance = metasage.generate("tsp", 1500, 1, 2)[0]
    outcome = installed("lkh").solve(instance, 1.0, 1)
    assert "did not finish" in outcome.note
    assert outcome.seconds < 2.5
    assert metasage.check(instance, outcome.solution).feasible


@pytest.mark.parametrize(
    "change",
    [
        {"demand": np.r_[0.0, np.full(9, 26.0)], "capacity": 50.0},  # nobody shares a vehicle
        {"demand": np.r_[0.0, np.full(9, 3e6 + 1 / 3)], "capacity": 1e7},
        {"demand": np.zeros(10)},
        {
            "coords": np.random.default_rng(1).uniform(-1e7, 1e7, (10, 2)),
            "metric": METRICS["EUC_2D"],
        },
        {"coords": np.zeros((10, 2))},
    ],
)
def test_hgs_takes_numbers_of_any_size(change):
    instance = replace(metasage.generate("cvrp", 9, 1, 1)[0], **change)
    found = installed("hgs").solve(instance, 1.0, 1).objective
    assert found == pytest.approx(installed("pyvrp").solve(instance, 1.0, 1).objective)


def test_hgs_solves_a_matrix_as_well_as_places():
    instance = metasage.generate("cvrp", 40, 1, 5)[0]
    matrix = replace(instance, coords=None, matrix=instance.length_matrix(), metric=EXPLICIT)
    by_places, by_matrix = (installed("hgs").solve(i, 2.0, 1).objective for i in (instance, matrix))
    assert by_matrix == pytest.approx(by_places, rel=0.02)
    ours = metasage.check(instance, improve(instance, (), seconds=2.0, seed=1)).objective
    assert by_places == pytest.approx(ours, rel=0.02)


def test_hgs_says_so_where_only_its_short_run_was_done(monkeypatch):
    code = "import time; print([[1, 2, 3]], flush=True); time.sleep(60)"
    monkeypatch.setattr(
        "metasage.runtime.processes.command", lambda *_: [sys.executable, "-c", code]
    )
    outcome = installed("hgs").solve(metasage.generate("cvrp", 3, 1, 1)[0], 1.0)
    assert outcome.note == "did not finish, this is a run of 5% of the time"
    assert outcome.solution.routes == ((1, 2, 3),)


def test_an_infeasible_answer_is_a_failure_and_no_number():
    class Liar(Baseline):
        name, problems, hint = "liar", ("tsp",), "nobody wants it"

        def search(self, instance, track, seed):
            track.offer(metasage.Solution([[0, 0]]))

    with pytest.raises(BaselineError, match=r"liar found no feasible solution: node 0 visited"):
        Liar().solve(metasage.generate("tsp", 5, 1, 1)[0], 1.0)


def test_failing_children_are_failures(monkeypatch):
    monkeypatch.setattr("metasage.runtime.processes.command", lambda *_: ["false"])
    with pytest.raises(BaselineError, match="its process ended with an error"):
        get_baseline("ortools").solve(metasage.generate("tsp", 5, 1, 1)[0], 5.0)


def test_files_of_the_user_are_not_taken_for_libraries(monkeypatch, tmp_path):
    (tmp_path / "pyvrp.py").write_text("print('hello')\nraise ImportError('not this one')\n")
    monkeypatch.chdir(tmp_path)
    found = get_baseline("pyvrp").solve(metasage.generate("cvrp", 10, 1, 1)[0], 4.0)
    assert found.objective > 0


def test_what_a_solver_prints_is_no_answer(monkeypatch):
    code = "import sys; print('hello'); sys.stdout.flush()"
    monkeypatch.setattr(
        "metasage.runtime.processes.command", lambda *_: [sys.executable, "-c", code]
    )
    with pytest.raises(BaselineError, match="its process ended with an error"):
        get_baseline("ortools").solve(metasage.generate("tsp", 5, 1, 1)[0], 5.0)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ortools", "ortools is not installed: pip install 'metasage[baselines]'."),
        ("lkh", "lkh is not installed: pip install 'metasage[baselines]' (LKH is free"),
        ("pyvrp", "pyvrp is not installed: pip install 'metasage[baselines]'."),
        ("concorde", "concorde is not installed: put the program concorde on the PATH."),
    ],
)
def test_what_is_missing_is_named_in_one_sentence(monkeypatch, name, sentence):
    monkeypatch.setenv("PATH", "/nowhere")
    for module in ("lkh", "ortools", "pyvrp"):
        monkeypatch.setattr(f"metasage.baselines.{module}.find_spec", lambda name: None)
    with pytest.raises(InputError) as caught:
        get_baseline(name).solve(metasage.generate("tsp", 5, 1, 1)[0], 1.0)
    assert str(caught.value).startswith(sentence)


def test_wrong_requests_are_refused():
    instance = metasage.generate("cvrp", 5, 1, 1)[0]
    nearest = get_baseline("nearest")
    with pytest.raises(InputError, match="lkh solves tsp, not cvrp"):
        get_baseline("lkh").solve(instance, 1.0)
    with pytest.raises(InputError, match="the time limit is 0"):
        nearest.solve(instance, 0.0)
    with pytest.raises(InputError, match="the seed is -1"):
        nearest.solve(instance, 1.0, seed=-1)
    with pytest.raises(InputError, match="baseline 'magic' is not one of"):
        get_baseline("magic")
    tight = metasage.generate("pctsp", 1, 1, 1)[0]
    tight = type(tight)(
        coords=tight.coords, prize=tight.prize, penalty=tight.penalty, min_prize=99.0
    )
    with pytest.raises(InfeasibleError, match="all prizes together"):
        nearest.solve(tight, 1.0)


def test_every_baseline_names_problems_that_exist():
    for baseline in all_baselines().values():
        assert set(baseline.problems) <= set(all_problems())


def test_solutions_go_to_pyvrp_and_back(problem):
    instance = small_instance(problem, 2)
    model = PyvrpModel(instance)
    routes = [[3, 0, 1, 2, 6, 5, 4]] if problem == "tsp" else [[2, 1, 4]]
    if problem == "cvrp":
        routes = [[2, 1], [4, 3, 5]]
    there = model.to_pyvrp(metasage.Solution(routes), model.data())
    back = model.from_pyvrp(there)
    given = metasage.check(instance, metasage.Solution(routes))
    assert metasage.check(instance, back).objective == pytest.approx(given.objective)
    length = sum(instance.tour_length(np.array([0, *r] if 0 not in r else r)) for r in routes)
    assert there.distance() / model.unit == pytest.approx(length, rel=1e-3)


def test_units_never_favour_the_solver():
    values = np.array([0.1, 0.25, 1 / 3, 2.0])
    assert (units_above(values, 10.0) == [1, 3, 4, 20]).all()
    assert (units_below(values, 10.0) == [1, 2, 3, 20]).all()


def test_whole_lengths_keep_the_order_of_tours():
    instance = metasage.generate("tsp", 20, 1, 1)[0]
    whole, unit = with_whole_lengths(instance, 1_000_000)
    assert whole.metric.is_integral
    tour = np.arange(20)
    assert whole.tour_length(tour) / unit == pytest.approx(instance.tour_length(tour), rel=1e-5)
    explicit = type(instance)(matrix=instance.length_matrix(), metric=EXPLICIT)
    whole, unit = with_whole_lengths(explicit, 1_000_000)
    assert (whole.matrix == np.rint(whole.matrix)).all()
    assert whole.tour_length(tour) / unit == pytest.approx(instance.tour_length(tour), rel=1e-5)


def test_ortools_starts_with_enough_prize_also_after_rounding():
    # Three thirds are enough, but not if each is rounded down: the start needs a fourth.
    third = np.r_[0.0, np.full(6, 1 / 3)]
    instance = metasage.generate("pctsp", 6, 1, 1)[0]
    instance = replace(instance, prize=third, penalty=np.zeros(7), min_prize=1.0)
    outcome = installed("ortools").solve(instance, 2.0, 1)
    assert metasage.check(instance, outcome.solution).feasible


@pytest.mark.parametrize("scale", [1.0, 1000.0, 0.01])
def test_the_unit_of_an_op_s_prizes_does_not_matter_to_pyvrp(scale):
    instance = metasage.generate("op", 10, 1, 1)[0]
    prize = np.r_[0.0, np.arange(1.0, 11.0)] * scale
    clients = PyvrpModel(replace(instance, prize=prize)).data().clients()
    worth = [client.prize for client in clients]
    expected = 2.0 * instance.max_length * PyvrpModel(instance).unit * np.arange(1, 11)
    assert worth == pytest.approx(expected, rel=1e-3)


def test_a_tiny_prize_does_not_make_others_boundless_to_pyvrp():
    instance = metasage.generate("op", 10, 1, 1)[0]
    prize = np.r_[0.0, 1e-6, np.ones(9)]
    model = PyvrpModel(replace(instance, prize=prize))
    worth = [client.prize for client in model.data().clients()]
    assert max(worth) <= 200 * instance.max_length * model.unit + 1
