"""Small files of every format."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Write a file and return its path."""

    def save(content: str | bytes, name: str = "file.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return save
