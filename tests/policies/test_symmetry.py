"""Maps of the plane: the published order, and nothing but isometries."""

import pytest
import torch

from metasage.errors import InputError
from metasage.policies.symmetry import augment, rotate
from metasage.problems import all_problems
from metasage.problems.batch import Batch
from metasage.problems.sets import generate


def drawn(problem="tsp", size=12, count=3):
    return Batch.of(list(generate(problem, size, count, seed=2)))


def test_the_eight_maps_come_in_the_published_order():
    batch = Batch(drawn().problem, torch.tensor([[[0.1, 0.3]]]))
    expected = [
        (0.1, 0.3),
        (0.9, 0.3),
        (0.1, 0.7),
        (0.9, 0.7),
        (0.3, 0.1),
        (0.7, 0.1),
        (0.3, 0.9),
        (0.7, 0.9),
    ]
    for copies in (1, 2, 4, 8):
        found = augment(batch, copies).coords[:, 0]
        assert torch.allclose(found, torch.tensor(expected[:copies]))


def test_copies_of_the_whole_batch_follow_one_another():
    batch = drawn("cvrp")
    found = augment(batch, 4)
    assert found.num_instances == 12
    for copy in range(4):
        rows = slice(3 * copy, 3 * copy + 3)
        assert torch.equal(found.fields["demand"][rows], batch.fields["demand"])
        assert torch.equal(found.features[rows, :, 2:], batch.features[:, :, 2:])


@pytest.mark.parametrize("problem", list(all_problems()))
@pytest.mark.parametrize(
    "mapped",
    [
        lambda batch: augment(batch, 8),
        lambda batch: rotate(batch, 6, torch.Generator().manual_seed(1)),
    ],
    ids=["augment", "rotate"],
)
def test_distances_and_costs_stay(problem, mapped):
    batch = drawn(problem)
    found = mapped(batch)
    copies = found.num_instances // batch.num_instances
    before = torch.cdist(batch.coords.double(), batch.coords.double())
    after = torch.cdist(found.coords.double(), found.coords.double())
    assert torch.allclose(after, before.repeat(copies, 1, 1), atol=1e-6)
    actions = torch.arange(1, 6).expand(batch.num_instances, 1, -1)
    cost = batch.problem.cost(batch, actions)
    assert torch.allclose(
        batch.problem.cost(found, actions.repeat(copies, 1, 1)), cost.repeat(copies, 1), atol=1e-5
    )


def test_the_first_copy_is_the_batch_itself():
    batch = drawn("op")
    assert torch.equal(augment(batch, 1).coords, batch.coords)
    assert torch.equal(augment(batch, 1).features, batch.features)
    turned = rotate(batch, 3, torch.Generator().manual_seed(0))
    assert torch.equal(turned.coords[:3], batch.coords)
    assert not torch.allclose(turned.coords[3:6], batch.coords)


def test_rotations_turn_about_the_centre_and_some_mirror():
    corner = torch.tensor([[[0.5, 0.5], [1.0, 0.5], [0.5, 1.0]]])
    turned = rotate(Batch(drawn().problem, corner), 101, torch.Generator().manual_seed(3)).coords
    assert torch.allclose(turned[:, 0], torch.tensor([0.5, 0.5]))
    first, second = (turned[1:, i] - 0.5 for i in (1, 2))
    orientation = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
    assert torch.allclose(orientation.abs(), torch.tensor(0.25), atol=1e-6)
    assert 30 < int((orientation > 0).sum()) < 70


def test_the_same_generator_turns_the_same_way():
    turned = [rotate(drawn(), 4, torch.Generator().manual_seed(9)).coords for _ in range(2)]
    assert torch.equal(*turned)


@pytest.mark.parametrize("copies", [0, 3, 16])
def test_other_numbers_of_maps_are_refused(copies):
    with pytest.raises(InputError, match=f"augmentation is {copies}"):
        augment(drawn(), copies)
