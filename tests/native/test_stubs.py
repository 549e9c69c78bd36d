"""The types of the extension are those of its bindings."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_stub_is_what_the_bindings_say(tmp_path):
    made = tmp_path / "_native.pyi"
    patterns = str(ROOT / "native" / "stub_patterns.txt")
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "metasage._native",
         "-p", patterns, "-o", str(made)],
        check=True,
    )  # fmt: skip
    config = ["--config", str(ROOT / "pyproject.toml")]
    for command in (["check", "-q", "--fix", "--ignore", "D,E501"], ["format", "-q"]):
        subprocess.run([sys.executable, "-m", "ruff", *command, *config, str(made)], check=True)
    assert made.read_text() == (ROOT / "metasage" / "_native.pyi").read_text(), "call make stubs"
