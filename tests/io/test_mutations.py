"""Damaged files of every format: read, or refused in one sentence, and nothing else.

The attack `files` of `fuzz` damages more of them.
"""

import tracemalloc
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.files import outcome
from fuzz.mutation import mutate
from fuzz.samples import SAMPLES


@pytest.mark.parametrize("sample", SAMPLES)
def test_samples_are_read(save, sample):
    assert outcome(save(SAMPLES[sample])) == "read"


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    start=st.sampled_from([b"", b"PK\x03\x04", b"\x80\x02", b"\x80\x04\x95", b"{", b"Route 1:"]),
    data=st.binary(max_size=200),
)
def test_arbitrary_bytes(save, start, data):
    assert outcome(save(start + data)) in ("read", "refused")


def test_damage_is_noticed(save):
    # Were most damaged files still read, the mutations would not test much.
    random = Random(1)
    outcomes = [
        outcome(save(mutate(data, random) or b"x")) for data in SAMPLES.values() for _ in range(20)
    ]
    assert 0.3 < outcomes.count("refused") / len(outcomes) < 0.95


GREEDY = {
    "nodes": SAMPLES["tsp"].replace(b"DIMENSION : 4", b"DIMENSION : 999999999"),
    "matrix": SAMPLES["matrix"].replace(b"DIMENSION : 4", b"DIMENSION : 999999999"),
    "full": SAMPLES["full"].replace(b"DIMENSION : 4", b"DIMENSION : 99999"),
    "demands": SAMPLES["vrp"].replace(b"\n2 5\n", b"\n999999999999 5\n"),
    "array": SAMPLES["npz"].replace(b"(2, 4, 2), }", b"(99999999, 9, 2), }"),
    "route": b"Route #1: 999999999999999\n",
    "pickle": b"\x80\x04](" + b"]\x94(" + b"K\x01" * 100 + b"e" + b"](" + b"h\x00" * 200 + b"ee.",
    "label": b'{"problem": "tsp", "coords": [[0, 0]], "labels": [999999999999]}',
}


@pytest.mark.parametrize("case", GREEDY)
def test_memory_grows_with_the_file_alone(save, case):
    path = save(GREEDY[case])
    outcome(path)  # so that imports are not measured
    tracemalloc.start()
    outcome(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * 2**20
