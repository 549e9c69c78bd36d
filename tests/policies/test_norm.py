import pytest
import torch

from metasage.policies import norm
from metasage.policies.norm import InstanceNorm


@pytest.mark.parametrize("shape", [(3, 7, 16), (1, 100, 128), (2, 1, 5)])
def test_the_kernel_agrees_with_torch(shape, monkeypatch):
    pytest.importorskip("metasage._native")
    torch.manual_seed(0)
    layer = InstanceNorm(shape[-1])
    with torch.no_grad():
        layer.weight.normal_()
        layer.bias.normal_()
    seen = []
    for native in (True, False):
        monkeypatch.setattr(norm, "_HAS_KERNEL", native)
        torch.manual_seed(1)
        h = (3 * torch.randn(shape) + 5).requires_grad_()
        y = layer(h)
        layer.zero_grad()
        (y * torch.randn(shape)).sum().backward()
        seen.append([y.detach(), h.grad, layer.weight.grad.clone(), layer.bias.grad.clone()])
    for ours, theirs in zip(*seen, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-4, atol=1e-4)


def test_threads_do_not_change_the_norm():
    layer, h = InstanceNorm(64), torch.randn(5, 30, 64)
    threads = torch.get_num_threads()
    seen = []
    for count in (1, 2):
        torch.set_num_threads(count)
        seen.append(layer(h))
    torch.set_num_threads(threads)
    assert torch.equal(*seen)
