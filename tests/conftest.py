"""What several test packages need."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("METASAGE_SHARED", Path(__file__).parents[2] / "shared"))


@pytest.fixture
def shared() -> Path:
    """Folder of public instances and networks, which is not part of the package."""
    if not (SHARED / "data" / "index.json").exists():
        pytest.skip("the folder of public instances is not here")
    return SHARED
