"""Large CVRPs, which are searched region by region."""

import time

import numpy as np
import pytest
from improve_cases import make_instance, no_worse, objective

from metasage.improve import improve, make_improver, regions
from metasage.improve.regions import Region, cut
from metasage.problems import Solution, check
from metasage.problems.cvrp import CvrpInstance
from metasage.problems.metric import EXACT_2D, EXPLICIT


@pytest.fixture
def small_regions(monkeypatch):
    """Make an instance of 120 customers one of several regions."""
    monkeypatch.setattr("metasage.improve.cvrp.MOST_CUSTOMERS", 40)
    monkeypatch.setattr(regions, "MOST_CUSTOMERS", 40)


def routes_of(instance):
    return [list(route) for route in make_improver(instance).construct().routes]


@pytest.mark.parametrize("metric", [EXACT_2D, EXPLICIT])
def test_every_route_is_in_one_region(small_regions, metric):
    instance = make_instance("cvrp", 121, 1, metric)
    routes = routes_of(instance)
    parts = cut(instance, routes, np.random.default_rng(0))
    assert len(parts) >= 3
    assert sorted(map(tuple, routes)) == sorted(tuple(route) for part in parts for route in part)
    assert all(sum(map(len, part)) <= 40 for part in parts)


def test_a_region_holds_routes_that_are_near_each_other(small_regions):
    # Two towns of 30 customers each, whose routes are listed in turn.
    random = np.random.default_rng(0)
    towns = np.concatenate([random.uniform(0, 1, (30, 2)), random.uniform(9, 10, (30, 2))])
    instance = CvrpInstance(
        coords=np.concatenate([[[5.0, 5.0]], towns]), demand=np.r_[0.0, np.ones(60)], capacity=3.0
    )
    near = [list(range(first, first + 3)) for first in range(1, 31, 3)]
    far = [[node + 30 for node in route] for route in near]
    mixed = [route for pair in zip(near, far, strict=True) for route in pair]
    for seed in range(5):
        parts = cut(instance, mixed, np.random.default_rng(seed))
        assert sorted(sorted(part) for part in parts) == [near, far]


def test_a_region_is_the_same_problem_in_other_numbers():
    instance = make_instance("cvrp", 60, 3)
    routes = routes_of(instance)
    region = Region(instance, routes[:3])
    job = region.job(seed=1)
    inside = objective(region.instance, Solution(job.routes))
    assert inside == pytest.approx(
        objective(instance, Solution(routes)) - _length(instance, routes[3:])
    )
    assert not region.replace([[node] for node in range(1, region.instance.num_nodes)])
    polished = make_improver(region.instance).improve([Solution(job.routes)], kicks=50)
    if region.replace([list(route) for route in polished.routes]):
        assert sorted(n for r in region.routes for n in r) == sorted(
            n for r in routes[:3] for n in r
        )
    assert _length(instance, region.routes) <= inside


def _length(instance, routes):
    return sum(instance.tour_length(np.array([0, *route])) for route in routes)


def test_the_seed_decides_whatever_the_number_of_processes(small_regions):
    instance = make_instance("cvrp", 121, 2)
    start = make_improver(instance).construct()
    first, second = (improve(instance, kicks=300, seed=3, threads=threads) for threads in (1, 2))
    assert first == second
    assert objective(instance, first) < objective(instance, start)


def test_all_processes_take_part_and_keep_the_time(small_regions, monkeypatch):
    instance = make_instance("cvrp", 121, 2)
    start = make_improver(instance).construct()
    turns = []
    search = regions.Team.search
    monkeypatch.setattr(
        regions.Team,
        "search",
        lambda team, jobs, *rest: turns.append(len(jobs)) or search(team, jobs, *rest),
    )
    began = time.monotonic()
    found = improve(instance, [start], seconds=4.0, threads=2, seed=1)
    assert time.monotonic() - began < 5.5
    assert no_worse(instance, found, start)
    assert objective(instance, found) < objective(instance, start)
    assert 2 in turns


@pytest.mark.parametrize("metric", [EXACT_2D, EXPLICIT])
def test_a_route_longer_than_a_region_is_searched_as_a_tour(small_regions, metric):
    many = make_instance("cvrp", 161, 4, metric)
    # One route of 100 customers that weigh nothing, others as they are.
    demand = np.where(np.arange(161) <= 100, 0.0, many.demand)
    instance = CvrpInstance(**{**vars(many), "demand": demand})
    others = [[node] for node in range(101, 161)]
    start = Solution([list(range(1, 101)), *others])
    began = time.monotonic()
    found = improve(instance, [start], seconds=3.0, threads=2, seed=1)
    assert time.monotonic() - began < 4.5
    assert objective(instance, found) < 0.5 * objective(instance, start)
    counted = [improve(instance, [start], kicks=400, seed=1, threads=t) for t in (1, 2)]
    assert counted[0] == counted[1]


def test_a_region_takes_no_load_that_the_whole_instance_refuses():
    # A part of the demands looks like float32, whose slack is wider; the whole does not.
    demand = np.r_[0.0, np.float32([0.4, 0.3, 0.3, 0.2]).astype(float), 0.1]
    instance = CvrpInstance(
        coords=np.random.default_rng(0).uniform(0, 1, (6, 2)), demand=demand, capacity=1.0
    )
    over = float(demand[1:4].sum())
    assert 1 + 1e-9 < over < 1 + 1e-6
    region = Region(instance, [[1], [2], [3], [4]])
    assert check(region.instance, Solution([[1, 2, 3], [4]])).feasible
    assert not region.replace([[1, 2, 3], [4]])
    assert region.replace([[1, 2], [3, 4]])
    assert not region.replace([[1], [2], [3, 4]])


@pytest.mark.parametrize(("seconds", "is_enough"), [(0.9, True), (0.4, False)])
def test_less_than_a_second_is_used_if_a_search_fits_in(
    small_regions, monkeypatch, seconds, is_enough
):
    instance = make_instance("cvrp", 121, 2)
    turns = []
    monkeypatch.setattr(regions.Team, "search", lambda team, jobs, end, offer: turns.append(end))
    # Nothing is found, so that turn follows turn until the rest is too short.
    monkeypatch.setattr(regions.time, "monotonic", lambda: 100.0 + 0.1 * len(turns))
    regions.search_regions(
        instance,
        routes_of(instance),
        deadline=100.0 + seconds,
        kicks=None,
        seed=1,
        threads=2,
        offer=lambda routes: None,
    )
    assert bool(turns) == is_enough


def test_without_a_deadline_to_share_the_slices_stay_finite():
    assert regions._seconds_each(float("inf"), 3) == float("inf")


def test_an_instance_beyond_pyvrp_s_memory_is_searched_in_time():
    instance = make_instance("cvrp", 8001, 1)
    improver = make_improver(instance, 2)
    start = improver.construct()
    began = time.monotonic()
    found = improver.improve([start], seconds=6.0, seed=1)
    assert time.monotonic() - began < 8.0
    assert check(instance, found).feasible
    assert objective(instance, found) < objective(instance, start)
