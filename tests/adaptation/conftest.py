"""A small untrained model of each problem."""

import sys
from pathlib import Path

import pytest
import torch

from metasage.policies.config import PolicyConfig
from metasage.policies.model import Model
from metasage.policies.policy import AttentionPolicy

# Helpers beside the tests; import-mode=importlib does not find them by itself.
sys.path.insert(0, str(Path(__file__).parent))


def make_model(problem: str, **options) -> Model:
    torch.manual_seed(3)
    starts = "free" if problem in ("pctsp", "op") else "forced"
    settings = {"width": 64, "layers": 2, "hidden": 64, "starts": starts} | options
    policy = AttentionPolicy(PolicyConfig(problem, **settings))
    return Model(policy.eval().requires_grad_(False))


@pytest.fixture(params=["tsp", "cvrp", "pctsp", "op"])
def model(request) -> Model:
    return make_model(request.param)


@pytest.fixture
def tsp_model() -> Model:
    return make_model("tsp")


@pytest.fixture
def cvrp_model() -> Model:
    return make_model("cvrp")
