import subprocess
import sys

import pytest

import metasage
from metasage.errors import InputError


def test_every_public_name_exists():
    for name in metasage.__all__:
        assert getattr(metasage, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        _ = metasage.magic


def test_importing_the_package_is_cheap():
    probe = "import sys, metasage; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


def test_the_contract_runs_as_documented(tmp_path):
    import torch

    from metasage.policies.config import PolicyConfig
    from metasage.policies.model import Model
    from metasage.policies.policy import AttentionPolicy

    torch.manual_seed(0)
    model = Model(AttentionPolicy(PolicyConfig("cvrp", width=64, layers=1)).eval())
    instance = metasage.generate("cvrp", 12, 1, 3)[0]
    stop = metasage.FirstOf(metasage.MaxRuntime(60), metasage.MaxIterations(3))
    result = metasage.solve(instance, method=metasage.Sage(), stop=stop, model=model, seed=1)
    assert result.feasible
    assert result.curve[-1][2] == pytest.approx(result.objective)
    for suffix in (".svg", ".png"):
        result.plot(tmp_path / f"tour{suffix}")
        assert (tmp_path / f"tour{suffix}").stat().st_size > 1000
    with pytest.raises(InputError, match=r"\.png, \.svg, \.pdf"):
        result.plot(tmp_path / "tour.txt")
