"""Random numbers against splitmix64 in Python's integers."""

import pytest
import torch

from metasage.rollout.random import instance_seeds, uniforms

MASK = 2**64 - 1


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def expected(seed, rollout, step):
    return (mix((seed + mix((rollout << 32) | step)) & MASK) >> 40) / 2**24


def test_the_mixing_is_splitmix64():
    # The first numbers of the published generator with the seed 1234567.
    assert mix(1234567) == 6457827717110365317
    assert mix(1234567 + 0x9E3779B97F4A7C15) == 3203168211198807973


@pytest.mark.parametrize("step", [0, 1, 999, 2**31])
def test_uniforms_are_those_of_unbounded_integers(step):
    seeds = [0, 1, -1, 12345, 2**63 - 1, -(2**63)]
    rollouts = [0, 1, 7, 100_000]
    found = uniforms(torch.tensor(seeds), torch.tensor(rollouts), step)
    assert found.tolist() == [[expected(s, r, step) for r in rollouts] for s in seeds]


def test_instance_seeds_are_those_of_unbounded_integers():
    found = instance_seeds(42, 5, first=3).tolist()
    assert [seed & MASK for seed in found] == [mix((mix(42) + i) & MASK) for i in range(3, 8)]
    assert instance_seeds(42, 8)[3:].tolist() == found


def test_numbers_lie_in_the_unit_interval_and_fill_it_evenly():
    drawn = uniforms(instance_seeds(1, 50), torch.arange(1000), 3).flatten()
    assert float(drawn.min()) >= 0.0
    assert float(drawn.max()) < 1.0
    counts = torch.histc(drawn.float(), bins=20, min=0, max=1)
    assert bool(((counts - 2500).abs() < 5 * 2500**0.5).all())


def test_neighbours_are_not_related():
    first, second = (uniforms(instance_seeds(1, 50), torch.arange(1000), i) for i in (0, 1))
    pairs = [
        (first, second),
        (first[:, :-1], first[:, 1:]),
        (first[:-1], first[1:]),
    ]
    for left, right in pairs:
        joint = torch.stack([left.flatten(), right.flatten()])
        assert abs(float(joint.corrcoef()[0, 1])) < 0.02


def test_chunks_continue_the_stream():
    seeds = instance_seeds(7, 4)
    whole = uniforms(seeds, torch.arange(10), 5)
    parts = [uniforms(seeds, torch.arange(0, 3), 5), uniforms(seeds, torch.arange(3, 10), 5)]
    assert torch.equal(whole, torch.cat(parts, dim=1))
    assert torch.equal(whole[1:3], uniforms(seeds[1:3], torch.arange(10), 5))
