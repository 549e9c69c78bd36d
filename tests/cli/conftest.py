"""What the tests of all commands need."""

from pathlib import Path

import pytest
import torch

from metasage.cli.app import run
from metasage.policies.config import PolicyConfig
from metasage.policies.model import Model
from metasage.policies.policy import AttentionPolicy


@pytest.fixture
def metasage(capfd):
    """Run a command line; return exit code, output and errors."""

    def call(*arguments):
        code = run([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def examples() -> Path:
    """Return the folder of examples."""
    return Path(__file__).parents[2] / "examples"


@pytest.fixture
def network(tmp_path) -> Path:
    """Return the file of an untrained network for the CVRP."""
    torch.manual_seed(0)
    policy = AttentionPolicy(PolicyConfig("cvrp", width=64, layers=1))
    path = tmp_path / "network.safetensors"
    Model(policy.eval()).save(path)
    return path
