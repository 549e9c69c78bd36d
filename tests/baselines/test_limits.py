"""Limits that change the optimum: who knows them keeps them, and the others refuse."""

from dataclasses import replace

import numpy as np
import pytest

import metasage
from metasage.baselines import all_baselines, get_baseline
from metasage.baselines.base import LIMITS
from metasage.baselines.executables import for_program
from metasage.baselines.fleet import enough_vehicles
from metasage.errors import InputError
from metasage.problems.cvrp import Cvrp
from metasage.problems.metric import EXPLICIT, METRICS
from metasage.problems.tsp import Tsp

from .conftest import optimum

# Three customers near the depot and two far away, which one vehicle can all serve.
SQUARE = Cvrp(
    coords=[[0, 0], [0, 10], [10, 10], [10, 0], [-30, 0], [-30, 10]],
    demand=[0, 1, 1, 1, 1, 1],
    capacity=5,
)
# One vehicle goes to the two far ones, unless there are but two, who then share them.
STARS = Cvrp(
    coords=[[0, 0], [9, 0], [-9, 0], [0, 30], [1, 30]],
    demand=[0, 3, 3, 2, 2],
    capacity=5,
)


def directed(instance, seed=3):
    """Make the ways of an instance longer in one direction."""
    lengths = instance.length_matrix()
    wind = np.random.default_rng(seed).integers(1, 30, lengths.shape)
    changes = {"matrix": np.ceil(lengths) + wind, "metric": EXPLICIT, "coords": None}
    return replace(instance, **changes)


LIMITED = {
    "vehicles": (STARS, replace(STARS, vehicles=2)),
    "length": (SQUARE, replace(SQUARE, max_route_length=71.0)),
    "service": (
        replace(SQUARE, max_route_length=90.0),
        replace(SQUARE, max_route_length=90.0, service_time=[0, 30, 30, 2.5, 3, 3]),
    ),
    "directed": (SQUARE, directed(SQUARE)),
}


@pytest.mark.parametrize("name", ["pyvrp", "ortools", "hgs"])
@pytest.mark.parametrize("limit", LIMITED)
def test_the_optimum_within_a_limit_is_found(name, limit):
    baseline = get_baseline(name)
    if not baseline.is_available():
        pytest.skip(f"{name} is not installed")
    free, limited = LIMITED[limit]
    best = optimum(limited)
    assert best > optimum(free) * 1.001
    outcome = baseline.solve(limited, 1.5, 1)
    assert metasage.check(limited, outcome.solution).feasible
    assert outcome.objective == pytest.approx(best)


@pytest.mark.parametrize("name", ["pyvrp", "ortools", "lkh"])
def test_the_best_directed_tour_is_found(name):
    baseline = get_baseline(name)
    if not baseline.is_available():
        pytest.skip(f"{name} is not installed")
    tour = directed(Tsp(coords=SQUARE.coords))
    back = metasage.Solution([baseline.solve(tour, 1.5, 1).solution.routes[0][::-1]])
    assert baseline.solve(tour, 1.5, 1).objective == optimum(tour)
    assert metasage.check(tour, back).objective > optimum(tour)


def test_decimal_lengths_are_kept_by_solvers_that_count_in_integers():
    # A route through both takes 2.0 + 2 sin(0.1) exactly; its edges have no decimal end.
    angles = np.array([0.0, 0.2])
    coords = np.vstack([[0, 0], np.c_[np.cos(angles), np.sin(angles)]])
    instance = Cvrp(coords=coords, demand=[0, 1, 1], capacity=2)
    both = 2 + 2 * np.sin(0.1)
    for longest, routes in ((both * (1 + 1e-3), 1), (both * (1 - 1e-6), 2)):
        limited = replace(instance, max_route_length=longest)
        for name in ("pyvrp", "ortools", "hgs"):
            if get_baseline(name).is_available():
                assert len(get_baseline(name).solve(limited, 1.0, 1).solution.routes) == routes


@pytest.mark.parametrize(
    ("name", "limit", "sentence"),
    [
        ("nearest", "vehicles", "nearest does not know a number of vehicles."),
        ("random-insertion", "length", "random-insertion does not know a greatest route length."),
        (
            "farthest-insertion",
            "directed",
            "farthest-insertion does not know lengths that differ by direction.",
        ),
    ],
)
def test_who_does_not_know_a_limit_refuses(name, limit, sentence):
    with pytest.raises(InputError) as caught:
        get_baseline(name).solve(LIMITED[limit][1], 1.0)
    assert str(caught.value) == sentence


def test_several_unknown_limits_are_one_sentence():
    instance = replace(SQUARE, vehicles=3, max_route_length=90.0)
    sentence = "nearest does not know a number of vehicles or a greatest route length."
    with pytest.raises(InputError, match=sentence):
        get_baseline("nearest").solve(instance, 1.0)


def test_service_without_a_limit_is_none():
    instance = replace(SQUARE, service_time=5.0)
    assert get_baseline("nearest").solve(instance, 1.0).objective > 0


def test_a_fleet_is_large_enough_for_short_routes():
    assert enough_vehicles(SQUARE) == 1
    # The way to both far customers takes 71.6, and to one of them 63.2 at most.
    assert enough_vehicles(replace(SQUARE, max_route_length=72.0)) == 2
    assert enough_vehicles(replace(SQUARE, max_route_length=72.0, service_time=0.3)) == 3
    assert enough_vehicles(replace(SQUARE, max_route_length=71.0)) == 3
    assert enough_vehicles(replace(SQUARE, max_route_length=64.0, vehicles=9)) == 9


def test_programs_are_given_limits_on_their_grid():
    square = replace(SQUARE, coords=SQUARE.coords * 1.1)
    limited = replace(square, max_route_length=99.0, service_time=0.25, vehicles=3)
    on_grid = for_program(limited)
    unit = 1_000_000 / (40 * 1.1)
    assert on_grid.vehicles == 3
    assert (on_grid.service_time[1:] == np.ceil(0.25 * unit)).all()
    # Every edge may be rounded, so a little is kept back.
    assert 99.0 * unit - 20 < on_grid.max_route_length < 99.0 * unit
    whole = replace(limited, metric=METRICS["EUC_2D"])
    assert for_program(whole).max_route_length == 99.0
    assert for_program(whole).service_time[1] == 0.25


def test_every_limit_that_a_baseline_names_exists():
    for baseline in all_baselines().values():
        assert baseline.keeps <= set(LIMITS)
