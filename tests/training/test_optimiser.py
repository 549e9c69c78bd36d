"""Muon: equal singular values, blocks for themselves, a state that can be loaded."""

import copy

import torch

from metasage.policies.config import PolicyConfig
from metasage.policies.policy import AttentionPolicy
from metasage.training.optimiser import Muon, make_optimisers, orthogonalise


def small_policy():
    return AttentionPolicy(PolicyConfig(problem="cvrp", width=64, layers=1, hidden=128))


def test_orthogonalised_matrices_keep_their_singular_vectors():
    torch.manual_seed(1)
    matrices = torch.randn(3, 40, 70)
    for matrix, result in zip(matrices, orthogonalise(matrices), strict=True):
        u, _, v = torch.linalg.svd(matrix, full_matrices=False)
        values = u.mT @ result @ v.mT
        off_diagonal = values - values.diagonal().diag()
        assert off_diagonal.abs().max() < 1e-4
        assert values.diagonal().min() > 0.6
        assert values.diagonal().max() < 1.3


def test_tall_matrices_are_orthogonalised_as_wide_ones():
    matrix = torch.randn(1, 80, 30)
    torch.testing.assert_close(orthogonalise(matrix).mT, orthogonalise(matrix.mT))


def test_muon_takes_the_matrices_and_adam_the_rest():
    policy = small_policy()
    muon, adam = make_optimisers(policy, weight_decay=0.0, muon=0.5)
    shapes = {tuple(p.shape) for p in muon.param_groups[0]["params"]}
    assert shapes == {(192, 64), (64, 64), (128, 64), (64, 128)}
    counted = sum(len(group["params"]) for o in (muon, adam) for group in o.param_groups)
    assert counted == len(list(policy.parameters()))
    assert len(make_optimisers(policy, weight_decay=0.0, muon=0.0)) == 1


def test_an_update_has_the_promised_size():
    matrix = torch.nn.Parameter(torch.zeros(64, 128))
    optimiser = Muon([matrix], size=0.5)
    optimiser.param_groups[0]["lr"] = 0.1
    matrix.grad = torch.randn(64, 128)
    optimiser.step()
    assert 0.8 * 0.05 < matrix.detach().square().mean().sqrt() < 1.2 * 0.05
    assert (matrix.detach() * matrix.grad).sum() < 0  # downhill


def test_query_key_and_value_do_not_share_a_direction():
    matrix = torch.nn.Parameter(torch.zeros(192, 64))
    optimiser = Muon([matrix], size=1.0)
    optimiser.param_groups[0]["lr"] = 1.0
    matrix.grad = torch.cat([torch.randn(64, 64) * scale for scale in (1e-3, 1.0, 1e3)])
    optimiser.step()
    for block in matrix.detach().chunk(3):
        assert 0.8 < block.square().mean().sqrt() < 1.2


def test_a_loaded_state_goes_on_alike():
    torch.manual_seed(2)
    gradients = torch.randn(4, 64, 64)
    straight = torch.nn.Parameter(torch.ones(64, 64))
    optimiser = Muon([straight], size=1.0)
    for gradient in gradients[:2]:
        straight.grad = gradient
        optimiser.step()
    resumed = torch.nn.Parameter(straight.detach().clone())
    other = Muon([resumed], size=1.0)
    other.load_state_dict(copy.deepcopy(optimiser.state_dict()))
    for gradient in gradients[2:]:
        straight.grad = resumed.grad = gradient
        optimiser.step()
        other.step()
    torch.testing.assert_close(straight, resumed, rtol=0, atol=0)
