import pytest
import torch

from metasage.training.losses import advantage_weights, invariance_loss


def test_pomo_weights_are_costs_less_their_mean():
    cost = torch.tensor([[1.0, 2.0, 6.0], [5.0, 5.0, 5.0]])
    assert torch.equal(
        advantage_weights(cost, copies=1, normalise=False),
        torch.tensor([[-2.0, -1.0, 3.0], [0.0, 0.0, 0.0]]),
    )


def test_symnco_adds_the_baselines_of_copy_and_of_instance():
    # Two copies of two instances, copy by copy: rows 0 and 2 are the same instance.
    cost = torch.tensor([[1.0, 3.0], [0.0, 0.0], [5.0, 7.0], [2.0, 6.0]])
    weights = advantage_weights(cost, copies=2, normalise=False)
    assert torch.equal(weights[0], torch.tensor([1 - 4.0 + 1 - 2, 3 - 4.0 + 3 - 2]))
    assert torch.equal(weights[3], torch.tensor([2 - 2.0 + 2 - 4, 6 - 2.0 + 6 - 4]))


def test_one_rollout_a_copy_leaves_the_joint_baseline_alone():
    cost = torch.tensor([[1.0], [4.0], [3.0], [8.0]])
    weights = advantage_weights(cost, copies=2, normalise=False)
    assert torch.equal(weights, torch.tensor([[-1.0], [-2.0], [1.0], [2.0]]))


def test_normalised_weights_have_unit_deviation_and_survive_equal_costs():
    cost = torch.cat([torch.rand(3, 50) * 100, torch.full((1, 50), 7.0)])
    weights = advantage_weights(cost, copies=1, normalise=True)
    assert torch.allclose(weights[:3].std(dim=1), torch.ones(3), atol=1e-5)
    assert torch.equal(weights[3], torch.zeros(50))


def test_invariance_loss_is_least_for_equal_embeddings():
    h = torch.randn(2, 5, 8)
    assert float(invariance_loss(torch.cat([h, 2 * h, h]), 3)) == pytest.approx(-1.0)
    assert float(invariance_loss(torch.cat([h, -h]), 2)) == pytest.approx(1.0)
