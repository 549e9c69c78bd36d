import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from metasage.errors import InputError
from metasage.problems import get_problem
from metasage.problems.sets import InstanceSet, generate

# SHA-256 of the C-order bytes of the published sets (float64, demand int64).
PUBLISHED: list[tuple[str, int, int, int, dict[str, float], dict[str, str]]] = [
    (
        "tsp",
        500,
        128,
        1234,
        {},
        {"loc": "2b7dbc22c3606ebf1ec4a7189ffaf67a88d3d4f8babd0a6ccc9d4c9cf7eba08d"},
    ),
    (
        "cvrp",
        500,
        128,
        1234,
        {},
        {
            "depot": "d69bdeabbf437649c7b4c05ad05cc018df16155db9a4ad719cb2622849736efd",
            "loc": "4b5299e5a7118fb6bf6497707e89e572931836601593c1511ca73ac6f70e7b77",
            "demand": "227f6475ec46b9b7a28d43e6458ac458706f0bcf46b90ca5c144b7242e84ee3c",
            "capacity": "b8ebd2b614e08262c8e1b31bfb66286fd0328e848d989aa69f2e3fd4c254bc74",
        },
    ),
    (
        "cvrp",
        200,
        100,
        12345,
        {"capacity": 50.0},
        {
            "depot": "a750063dd5110e7eac3253e03e0acb670ae00f775b7a3461e530b923d902a723",
            "loc": "db42c935a1cc85b9836a08ffd319709f67f2b5711d5eff4b8bb333c5d486ef07",
            "demand": "81525e51aded90d7cb70cc3657a16ff2b8a5f2b916296ce131aa1092912f81c8",
            "capacity": "827314bfcc3a801b8d40d912892b94545b76f229096176c434adc5a0b8a87a9b",
        },
    ),
    (
        "op",
        500,
        128,
        1234,
        {},
        {
            "depot": "d69bdeabbf437649c7b4c05ad05cc018df16155db9a4ad719cb2622849736efd",
            "loc": "4b5299e5a7118fb6bf6497707e89e572931836601593c1511ca73ac6f70e7b77",
            "prize": "68268290b2ab7d5200f41ccdeca07868a8b2b52b7f07c1d944743fb9478f1b29",
            "max_length": "d8f2807a4d1a780c67ac11ed3b7f58c5e4fa5e9ba8f4351b9be2c3412df956a8",
        },
    ),
    (
        "pctsp",
        500,
        128,
        1234,
        {},
        {
            "depot": "d69bdeabbf437649c7b4c05ad05cc018df16155db9a4ad719cb2622849736efd",
            "loc": "4b5299e5a7118fb6bf6497707e89e572931836601593c1511ca73ac6f70e7b77",
            "penalty": "7f606556eb6fd85afd658ce3db06f3e542768df0cb1eebff5007e8b7b6d028a8",
            "prize": "14a79b1541a9196a0db290c81f11334c4383658ee4ccb152227442967290f928",
        },
    ),
    (
        "cvrp",
        200,
        1000,
        1235,
        {},
        {
            "depot": "39d3d89ac0defcabc81fe7906bf6972314bda2e387c7a79bdc35dbb0e2ce7f9b",
            "loc": "16dbb193a41e9c6ce343379fc2cda8d262bd58c36289ba87c78970c235de9a25",
            "demand": "346966e5bf8d80a813af7038556477b1e8468e9a10dad6a4e24657e38026e4f4",
            "capacity": "04296ce0a5c0428e9cdee7018f5fb166aa04355eac02b2d38af78c7d604ca051",
        },
    ),
]


def digest(array: np.ndarray, name: str) -> str:
    kind = np.int64 if name == "demand" else np.float64
    return hashlib.sha256(np.ascontiguousarray(array, dtype=kind).tobytes()).hexdigest()


@pytest.mark.parametrize(("problem", "size", "count", "seed", "constants", "hashes"), PUBLISHED)
def test_published_sets_are_reproduced_bit_for_bit(problem, size, count, seed, constants, hashes):
    arrays = generate(problem, size, count, seed, **constants).arrays
    assert {name: digest(array, name) for name, array in arrays.items()} == hashes


def test_every_set_of_the_shared_index_is_reproduced(shared: Path):
    index = json.loads((shared / "data" / "index.json").read_text())
    sets = {name: row for name, row in index.items() if "sha256_float64" in row and "proof" in row}
    assert len(sets) >= 20
    for name, row in sets.items():
        whole = [key for key in row if key.startswith("sha256_float64_full")]
        hashes = row[whole[0] if whole else "sha256_float64"]
        constants = {"capacity": 50.0} if name.startswith("vrp") and "train" in name else {}
        count = row.get("n_instances_full", row["n_instances"])
        arrays = generate(row["problem"], row["n"], count, row["seed"], **constants).arrays
        for field, expected in hashes.items():
            assert digest(arrays[field], field) == expected, (name, field)


def test_tsp_sets_are_prefixes_of_each_other():
    assert np.array_equal(
        generate("tsp", 10, 3, 7).arrays["loc"], generate("tsp", 10, 8, 7).arrays["loc"][:3]
    )


@pytest.mark.parametrize(
    ("size", "capacity"),
    [(10, 30), (20, 30), (35, 35), (100, 50), (200, 70), (201, 50), (5000, 50)],
)
def test_capacity_follows_the_published_table(size, capacity):
    assert generate("cvrp", size, 1, 0).arrays["capacity"][0] == capacity


@pytest.mark.parametrize(
    ("size", "length"), [(5, 2), (20, 2), (75, 3.5), (200, 4), (400, 4), (450, 4.5), (1000, 6)]
)
def test_op_length_follows_the_published_table(size, length):
    assert generate("op", size, 1, 0).arrays["max_length"][0] == length


def test_constants_can_be_overridden():
    assert generate("cvrp", 20, 1, 0, capacity=99).arrays["capacity"][0] == 99
    assert generate("op", 20, 1, 0, max_length=1.5).arrays["max_length"][0] == 1.5
    half = generate("pctsp", 20, 1, 0, max_length=1).arrays["penalty"]
    assert np.allclose(half * 2, generate("pctsp", 20, 1, 0).arrays["penalty"])


@pytest.mark.parametrize("layout", ["clustered", "mixed"])
def test_clustered_nodes_lie_closer_together_and_inside_the_square(layout):
    def nearest(places):
        gaps = np.linalg.norm(places[:, :, None] - places[:, None], axis=-1)
        return np.sort(gaps, axis=-1)[..., 1].mean()

    places = generate("tsp", 100, 20, 3, layout).arrays["loc"]
    assert places.min() >= 0
    assert places.max() <= 1
    assert nearest(places) < 0.95 * nearest(generate("tsp", 100, 20, 3).arrays["loc"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": 0},
        {"count": 0},
        {"seed": -1},
        {"layout": "round"},
        {"capacity": -1.0},
        {"speed": 2.0},
    ],
)
def test_impossible_wishes_are_refused(wrong):
    with pytest.raises(InputError):
        generate(**({"problem": "cvrp", "size": 5, "count": 1, "seed": 0} | wrong))


def varied(problem: str, size: int, count: int) -> InstanceSet:
    kind = get_problem(problem)
    return InstanceSet(kind, kind.generate(size, count, 5, varied=True))


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "pctsp", "op"])
def test_varied_constants_leave_all_else_as_published(problem):
    plain = generate(problem, 30, 200, 5).arrays
    other = varied(problem, 30, 200).arrays
    drawn = {"tsp": set(), "cvrp": {"capacity"}, "pctsp": {"penalty", "prize"},
             "op": {"prize", "max_length"}}[problem]  # fmt: skip
    assert plain.keys() == other.keys()
    for name in plain:
        assert np.array_equal(plain[name], other[name]) == (name not in drawn)
        assert plain[name].shape == other[name].shape


def test_varied_capacities_carry_the_largest_demand_and_fill_their_range():
    capacity = varied("cvrp", 10, 5000).arrays["capacity"]
    assert np.array_equal(capacity, np.round(capacity))
    assert capacity.min() >= 15
    assert capacity.max() <= 125
    # The mean of a triangular distribution is that of its three corners.
    assert capacity.mean() == pytest.approx(5 * (3 + 6 + 25) / 3, rel=0.02)


def test_varied_lengths_are_shares_of_a_tour_and_prizes_of_three_kinds():
    plain = generate("op", 50, 4000, 5).arrays["prize"]
    arrays = varied("op", 50, 4000).arrays
    share = arrays["max_length"] / (0.7124 * 50**0.5)
    assert (share.min(), share.max()) == pytest.approx((0.2, 0.65), abs=0.01)
    assert np.allclose(arrays["prize"] * 100, np.round(arrays["prize"] * 100))
    equal = (arrays["prize"] == 1).all(axis=1)
    by_distance = (arrays["prize"] == plain).all(axis=1)
    assert equal.mean() == pytest.approx(0.2, abs=0.03)
    assert by_distance.mean() == pytest.approx(0.6, abs=0.03)
    others = arrays["prize"][~equal & ~by_distance]
    assert (others.min(), others.max()) == (0.01, 1.0)
    assert others.mean() == pytest.approx(0.505, abs=0.01)


@pytest.mark.parametrize("size", [3, 50])
def test_varied_prizes_can_always_be_collected(size):
    plain = generate("pctsp", size, 4000, 5)
    instances = varied("pctsp", size, 4000)
    total = instances.arrays["prize"].sum(axis=1)
    assert total.min() >= 1.05 - 1e-9
    assert all(instances.problem.infeasibility(instance) is None for instance in instances)
    scale = (instances.arrays["prize"] / plain.arrays["prize"])[:, 0] * 2
    assert scale.max() == pytest.approx(5.0, abs=0.01) or size == 3
    ratio = instances.arrays["penalty"] / plain.arrays["penalty"]
    assert np.allclose(ratio, ratio[:, :1])
    length = ratio[:, 0] * (2 if size == 3 else 3)
    assert length.min() >= 0.2 * 0.7124 * size**0.5
    assert length.max() <= 0.65 * 0.7124 * size**0.5


def test_a_given_constant_is_not_varied():
    with pytest.raises(InputError, match="capacity is given"):
        get_problem("cvrp").generate(10, 1, 0, varied=True, capacity=50.0)
