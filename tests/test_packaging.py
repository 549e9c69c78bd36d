"""The package installs with and without a compiler."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def build_wheel(folder: Path, **environment: str) -> list[str]:
    """Build from a copy without build products, and list what the wheel holds."""
    source = folder / "source"
    ignored = shutil.ignore_patterns(".venv", ".git", "build", "demo", "__pycache__", ".*_cache")
    shutil.copytree(ROOT, source, ignore=ignored)
    command = [sys.executable, "-m", "pip", "wheel", str(source), "--wheel-dir", str(folder)]
    subprocess.run(
        [*command, "--no-deps", "--no-build-isolation", "--no-index"],
        check=True,
        capture_output=True,
        env=os.environ | environment,
    )
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


def test_without_a_compiler_the_wheel_lacks_the_native_engine_alone(tmp_path):
    pytest.importorskip("scikit_build_core")
    pytest.importorskip("nanobind")
    names = build_wheel(tmp_path, CXX="/nowhere/c++", CC="/nowhere/cc")
    assert not [name for name in names if name.endswith((".so", ".pyd"))]
    assert "metasage/rollout/torch_engine.py" in names
    assert "metasage/py.typed" in names
    assert "metasage/training/references.json" in names
    assert {name.split("/")[0] for name in names} == {"metasage", "metasage-0.1.0.dist-info"}
