"""How many cores there are to use."""

import os

import pytest

from metasage.runtime import resources
from metasage.runtime.resources import available_cores


@pytest.mark.parametrize(
    ("quota", "cores"),
    [("200000 100000", 2), ("150000 100000", 2), ("20000 100000", 1), ("max 100000", 8), ("", 8)],
)
def test_a_container_s_quota_counts(monkeypatch, tmp_path, quota, cores):
    file = tmp_path / "cpu.max"
    file.write_text(quota)
    monkeypatch.setattr(resources, "_CPU_MAX", file)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8))
    assert available_cores() == cores
