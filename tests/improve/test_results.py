"""What comes out is feasible, as good as possible, and never worse than what went in."""

import numpy as np
import pytest
from improve_cases import PROBLEMS, make_instance, may_fail, no_worse, objective, optimum

from metasage.improve import improve, make_improver, native_improver
from metasage.improve.tiny import TinyImprover
from metasage.problems import Solution, check
from metasage.problems.cvrp import Cvrp
from metasage.problems.metric import EXACT_2D, METRICS
from metasage.problems.op import Op
from metasage.problems.pctsp import Pctsp
from metasage.problems.tsp import Tsp

SINGLE = ("tsp", "pctsp", "op")
SCALES = {"GEO": 80.0, "EXACT_2D": 1.0, "EXPLICIT": 1.0}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("nodes", [2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("seed", [0, 1])
def test_small_instances_are_solved_to_the_optimum(problem, nodes, seed):
    instance = make_instance(problem, nodes, seed)
    for improver in (make_improver(instance), native_improver(instance, None)):
        found = improver.improve(kicks=300, seed=seed)
        assert objective(instance, found) == pytest.approx(optimum(instance))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_handful_of_nodes_does_not_wait_for_the_deadline(problem):
    improver = make_improver(make_instance(problem, 4, 1))
    assert isinstance(improver, TinyImprover)
    told = []
    found = improver.improve(seconds=3600.0, listener=lambda value: told.append(value))
    assert improver.best == found
    assert told == [objective(improver.instance, found)]


@pytest.mark.parametrize("problem", SINGLE)
@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_all_metrics_are_measured_as_the_checker_does(problem, metric):
    scale = SCALES.get(metric.name, 1000.0)
    instance = make_instance(problem, 60, 3, metric, scale)
    told = []
    found = improve(instance, kicks=400, listener=lambda value: told.append(value))
    assert objective(instance, found) == pytest.approx(told[-1], rel=1e-12)
    start = make_improver(instance).construct()
    assert objective(instance, found) != objective(instance, start)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_small_instances_of_all_metrics_are_solved_to_the_optimum(metric):
    instance = make_instance("tsp", 7, 5, metric, SCALES.get(metric.name, 1000.0))
    assert objective(instance, improve(instance, kicks=200)) == pytest.approx(optimum(instance))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_no_result_is_worse_than_its_start(problem):
    instance = make_instance(problem, 80, 7)
    improver = make_improver(instance)
    good = improver.improve(kicks=300)
    starts = [good, improver.construct()]
    for start, polished in zip(starts, improver.polish(starts), strict=True):
        assert no_worse(instance, polished, start)
    assert no_worse(instance, improver.improve(starts, kicks=20, seed=5), good)


@pytest.mark.parametrize("rounding", [EXACT_2D, METRICS["EUC_2D"]], ids=["real", "rounded"])
def test_polished_tours_have_no_better_2_exchange_between_near_nodes(rounding):
    instance = make_instance("tsp", 120, 11, rounding, 1000.0)
    order = np.random.default_rng(0).permutation(120)
    (polished,) = make_improver(instance).polish([Solution([order])])
    tour = np.array(polished.routes[0])
    lengths = instance.length_matrix()
    following = np.roll(tour, -1)
    near = {(a, b) for a in range(120) for b in np.argsort(lengths[a], kind="stable")[1:4]}
    edges = lengths[tour, following]
    for i in range(120):
        for j in range(i + 1, 120):
            joined = [(tour[i], tour[j]), (following[i], following[j])]
            if near.isdisjoint(joined) and near.isdisjoint([(b, a) for a, b in joined]):
                continue
            change = sum(lengths[a, b] for a, b in joined) - edges[i] - edges[j]
            assert change > -1e-6


def test_polishing_a_random_tour_comes_near_the_optimum():
    # A tour of 30 nodes on a circle has its order as the only optimum.
    angle = np.random.default_rng(1).permutation(np.linspace(0, 2 * np.pi, 30, endpoint=False))
    instance = Tsp(coords=np.stack([np.cos(angle), np.sin(angle)], axis=1))
    (polished,) = make_improver(instance).polish([Solution([range(30)])])
    assert objective(instance, polished) == pytest.approx(60 * np.sin(np.pi / 30))


def test_an_op_tour_may_be_exactly_as_long_as_allowed():
    coords = [[0, 0], [3, 0], [3, 4], [0, 4], [50, 50]]
    common = {"coords": coords, "metric": METRICS["EUC_2D"], "prize": [0, 1, 1, 1, 9]}
    exact = Op(**common, max_length=14.0)
    assert objective(exact, improve(exact, kicks=50)) == 3.0
    short = Op(**common, max_length=13.0)
    assert objective(short, improve(short, kicks=50)) == 2.0


def test_a_pctsp_tour_may_collect_exactly_what_it_must():
    instance = Pctsp(
        coords=[[0, 0], [1, 0], [2, 0], [3, 0]],
        prize=[0, 0.1, 0.2, 5.0],
        penalty=[0, 0, 0, 0],
        min_prize=0.1 + 0.2,
    )
    assert objective(instance, improve(instance, kicks=50)) == pytest.approx(4.0)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_start_without_a_network_is_feasible(problem):
    for nodes in (1, 2, 3, 50, 500):
        instance = make_instance(problem, nodes, nodes)
        feasible = check(instance, make_improver(instance).construct()).feasible
        assert feasible or may_fail(instance)


def test_public_files_are_solved_well(shared):
    from metasage.io import read_instance

    tsp = read_instance(shared / "data" / "tsplib" / "kroA100.tsp")
    assert objective(tsp, improve(tsp, kicks=2000)) == 21282
    op = read_instance(shared / "data" / "oplib" / "gen1" / "eil51-gen1-50.oplib")
    assert objective(op, improve(op, kicks=4000)) >= 29


def test_a_tour_leaves_one_part_of_the_plane_for_another(shared):
    from metasage.io import read_instance

    # Six fields of nodes far apart; one node after another, no tour gets beyond 210.
    op = read_instance(shared / "data" / "oplib" / "gen1" / "fl417-gen1-50.oplib")
    assert max(objective(op, improve(op, kicks=2000, seed=seed)) for seed in (0, 2)) >= 224


@pytest.mark.parametrize("slope", [0.0, 1.0, -1.0])
def test_nodes_on_a_line_are_visited_there_and_back(slope):
    x = np.random.default_rng(0).permutation(3000).astype(float)
    instance = Tsp(coords=np.stack([x, slope * x], axis=1))
    improver = make_improver(instance)
    found = improver.improve(kicks=3000, seed=1)
    assert check(instance, found).objective == pytest.approx(2 * 2999 * (1 + slope**2) ** 0.5)


def test_metres_do_not_hide_overload():
    # Lengths up to a million: what PyVRP can charge for one unit of load too much is then
    # less than an edge, unless lengths are put in larger units.
    random = np.random.default_rng(0)
    instance = Cvrp(
        coords=random.integers(0, 10**6, (151, 2)).astype(float),
        metric=METRICS["EUC_2D"],
        demand=np.r_[0.0, random.integers(1, 101, 150)],
        capacity=500.0,
    )
    improver = make_improver(instance)
    start = improver.construct()
    (polished,) = improver.polish([start])
    assert objective(instance, polished) < objective(instance, start)
    found = improver.improve([start], kicks=400)
    assert objective(instance, found) < 0.99 * objective(instance, start)
