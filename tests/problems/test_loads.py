"""Demands in whole units: exact where they can be, never too small elsewhere."""

from fractions import Fraction

import numpy as np
import pytest

import metasage
from metasage.improve import improve
from metasage.problems.cvrp import Cvrp
from metasage.problems.limits import MOST_IN_FLOAT32, MOST_IN_INTEGERS, exact_units, load_limit
from metasage.problems.metric import METRICS


def fits(demand, capacity, customers, most=MOST_IN_INTEGERS):
    units, room = exact_units(np.asarray(demand, float), capacity, most)
    return sum(int(units[c]) for c in customers) <= room


@pytest.mark.parametrize(
    ("demand", "capacity"),
    [
        ([0, 3, 4, 3], 10),
        ([0, 0.3, 0.4, 0.3], 1.0),
        ([0, 3_000_009, 4_000_012, 3_000_009], 10_000_030),
        ([0, 1 / 13, 4 / 13, 8 / 13], 1.0),
        (np.float32([0, 3 / 50, 14 / 50, 33 / 50]).astype(float), 1.0),
        ([0, 20_000_001 / 3, 20_000_001 / 3, 20_000_001 / 3], 20_000_001),
    ],
)
def test_a_vehicle_that_is_exactly_full_is_not_overloaded(demand, capacity):
    assert fits(demand, capacity, [1, 2, 3])
    assert not fits(demand, capacity, [1, 2, 3, 1])


def test_what_is_too_fine_for_float32_is_exact_in_integers():
    demand = np.array([0, 10_000_000, 10_000_001, 1])
    assert fits(demand, 20_000_001, [1, 2])
    assert not fits(demand, 20_000_001, [1, 2, 3])
    units, room = exact_units(demand.astype(float), 20_000_001)
    assert room <= MOST_IN_FLOAT32
    # Rounded up, so that a rollout overloads nothing.
    assert all(Fraction(int(u), room) >= Fraction(int(d), 20_000_001) for u, d in zip(units, demand, strict=True))  # fmt: skip # noqa: E501


@pytest.mark.parametrize("seed", range(5))
def test_demands_of_any_size_are_never_made_smaller(seed):
    demand = np.append(0.0, np.random.default_rng(seed).random(50))
    units, room = exact_units(demand, 3.0)
    assert (units / room >= demand / 3.0 - 1e-12).all()


def test_float32_fractions_that_add_up_to_the_capacity_are_feasible():
    demand = np.append(0.0, np.full(13, np.float32(1 / 13), dtype=np.float64))
    assert demand.sum() > 1.0 + 1e-9
    instance = Cvrp(coords=np.random.default_rng(1).random((14, 2)), demand=demand, capacity=1.0)  # fmt: skip # noqa: E501
    everyone = metasage.Solution([list(range(1, 14))])
    assert metasage.check(instance, everyone).feasible
    assert load_limit(np.array([0.0, 1.0, 2.0]), 3.0) == pytest.approx(3.0, abs=1e-8)


def test_the_local_search_fills_vehicles_whatever_the_unit():
    instance = metasage.generate("cvrp", 40, 1, 3)[0]
    found = []
    for factor in (1.0, 1 / instance.capacity, 1_000_003.0):
        other = Cvrp(
            coords=instance.coords,
            demand=instance.demand * factor,
            capacity=instance.capacity * factor,
        )
        best = improve(other, kicks=300, seed=1, threads=1)
        found.append(metasage.check(other, best).objective)
    assert found[1:] == pytest.approx([found[0]] * 2, rel=1e-9)


def test_large_coordinates_are_searched_as_well_as_small_ones():
    instance = metasage.generate("cvrp", 60, 1, 3)[0]
    found = []
    for factor in (1.0, 1e6):
        other = Cvrp(
            coords=np.rint(instance.coords * 1000) * factor,
            demand=instance.demand,
            capacity=instance.capacity,
            metric=METRICS["EUC_2D"],
        )
        best = improve(other, kicks=500, seed=1, threads=1)
        found.append(metasage.check(other, best).objective / factor)
    assert found[1] == pytest.approx(found[0], rel=0.02)
