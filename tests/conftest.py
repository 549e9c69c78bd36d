"""What several test packages need."""

import os
import sys
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("METASAGE_SHARED", Path(__file__).parents[2] / "shared"))

# helpers.py stands beside this file; import-mode=importlib does not find it by itself.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def shared() -> Path:
    """Folder of public instances and networks, which is not part of the package."""
    if not (SHARED / "data" / "index.json").exists():
        pytest.skip("the folder of public instances is not here")
    return SHARED


@pytest.fixture(params=["tsp", "cvrp", "pctsp", "op"])
def model(request):
    """A small untrained model of each problem."""
    from helpers import make_model

    return make_model(request.param)


@pytest.fixture
def tsp_model():
    """A small untrained model of the TSP."""
    from helpers import make_model

    return make_model("tsp")


@pytest.fixture
def cvrp_model():
    """A small untrained model of the CVRP."""
    from helpers import make_model

    return make_model("cvrp")
