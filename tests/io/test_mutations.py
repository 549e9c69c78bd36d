"""Damaged files of every format: read, or refused in one sentence, and nothing else."""

import io
import json
import pickle
import tracemalloc
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metasage.errors import InputError
from metasage.io import FileSolution, read
from metasage.problems import Instance
from metasage.problems.sets import InstanceSet, generate

PLACES = "NODE_COORD_SECTION\n1 0 0\n2 3 0\n3 3.5 4e0\n4 0 4\n"


def keyword_file(kind: str, *parts: str, metric: str = "EUC_2D") -> bytes:
    head = f"NAME : x\nTYPE : {kind}\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : {metric}\n"
    return "".join([head, *parts, "EOF\n"]).encode()


def archive(problem: str, compressed: bool) -> bytes:
    buffer = io.BytesIO()
    save = np.savez_compressed if compressed else np.savez
    save(buffer, **generate(problem, size=4, count=2, seed=1).arrays)
    return buffer.getvalue()


def pickled(protocol: int) -> bytes:
    arrays = generate("cvrp", size=4, count=3, seed=1).arrays
    columns = [arrays[name].tolist() for name in ("depot", "loc", "demand", "capacity")]
    return pickle.dumps(list(zip(*columns, strict=True)), protocol)


SAMPLES: dict[str, bytes] = {
    "tsp": keyword_file("TSP", PLACES),
    "geo": keyword_file("TSP", PLACES, metric="GEO"),
    "matrix": keyword_file(
        "TSP",
        "EDGE_WEIGHT_FORMAT: LOWER_DIAG_ROW\nEDGE_WEIGHT_SECTION\n0 12 0\n13 23 0 14 24 34 0\n",
        PLACES.replace("NODE_COORD", "DISPLAY_DATA"),
        metric="EXPLICIT",
    ),
    "full": keyword_file(
        "TSP",
        "EDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n",
        "0 1 2 3\n1 0 4 5\n2 4 0 6\n3 5 6 0\n",
        metric="EXPLICIT",
    ),
    "tour": b"NAME : x\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n1\n3\n2\n4\n-1\nEOF\n",
    "vrp": keyword_file(
        "CVRP",
        "CAPACITY : 10\nDISTANCE : 0\n",
        PLACES,
        "DEMAND_SECTION\n1 0\n2 5\n3 6\n4 4\nDEPOT_SECTION\n 1\n -1\n",
    ),
    "limits": keyword_file(
        "ACVRP",
        "CAPACITY : 10\nDISTANCE : 40.5\nVEHICLES : 3\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n",
        "EDGE_WEIGHT_SECTION\n0 1 2 3\n4 0 5 6\n7 8 0 9\n1 2 3 0\n",
        "DEMAND_SECTION\n1 0\n2 5\n3 6\n4 4\n",
        "SERVICE_TIME_SECTION\n1 0\n2 1\n3 2\n4 0.5\nDEPOT_SECTION\n 1\n -1\n",
        metric="EXPLICIT",
    ),
    "sol": b"Route #1: 1 3\nRoute #2: 2\nCost 24\nTime 3.5\n",
    "oplib": keyword_file(
        "OP",
        "COST_LIMIT : 12\n",
        PLACES,
        "NODE_SCORE_SECTION\n1 2\n2 5\n3 7\n4 3\nDEPOT_SECTION\n1\n-1\n",
    ),
    "oplib sol": b"TYPE : OP\nROUTE_NODES : 3\nROUTE_SCORE : 14\n"
    b"NODE_SEQUENCE_SECTION\n1\n2\n3\n-1\nDEPOT_SECTION\n1\n-1\nEOF\n",
    "json": json.dumps(
        {
            "problem": "pctsp",
            "name": "x",
            "coords": [[0, 0], [3, 0], [3.5, 4]],
            "metric": "EUC_2D",
            "rounding": "up",
            "labels": [1, 2, 3],
            "prize": [0, 2, 3],
            "penalty": [0, 1, 0.5],
            "min_prize": 4,
        }
    ).encode(),
    "json matrix": b'{"problem": "cvrp", "matrix": [[0, 1], [1, 0]], '
    b'"demand": [0, 1], "capacity": 2, "vehicles": 3, "max_route_length": 8, "service_time": 1}',
    "json sol": b'{"problem": "cvrp", "routes": [[1, 2], [3]], "objective": 22.5, "seed": null}',
    "npz": archive("cvrp", compressed=False),
    "npz zip": archive("op", compressed=True),
    "npz pctsp": archive("pctsp", compressed=True),
    "pkl 2": pickled(2),
    "pkl 4": pickled(4),
    "pkl 5": pickled(5),
}

NUMBERS = "nan inf 1e999 -1 0 1 2 4 7 1.5 -0 +3 1e3 1e13 999999999 99999999999999999999 0x10 1_0"
NAMES = (
    "abc NaN Infinity null true [] {} [[]] \u0663 \u00e4 : # - . EOF TSP ATSP CVRP OP TOUR GEO ATT "
    "EXPLICIT UPPER_ROW FULL_MATRIX DIMENSION DIMENSION:999999999 CAPACITY:0 TYPE: DEPOT_SECTION "
    "TOUR_SECTION NODE_COORD_SECTION DEMAND_SECTION EDGE_WEIGHT_SECTION FIXED_EDGES_SECTION "
    "NODE_SEQUENCE_SECTION Route Cost problem"
)
WORDS = [*NUMBERS.split(), *NAMES.split()]
SEPARATORS = (
    b"\n",
    b"\r\n",
    b"\r",
    b"\t",
    b" ",
    b"\0",
    b"\x0b",
    b"\x85",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
)


def mutate(data: bytes, random: Random) -> bytes:
    """Damage a file in one of the ways in which files are damaged."""
    lines = data.split(b"\n")
    line = random.randrange(len(lines))
    place, other = sorted(random.randrange(len(data) + 1) for _ in range(2))
    words = lines[line].split(b" ")
    word = random.choice(WORDS).encode()
    match random.randrange(12):
        case 0:
            return data[:place]
        case 1:
            return data[:place] + random.randbytes(random.randint(1, 8)) + data[place:]
        case 2:
            return data[:place] + data[min(other, place + random.randint(1, 20)) :]
        case 3:
            return b"\n".join(lines[:line] + lines[line + 1 :])
        case 4:
            return b"\n".join([*lines[: line + 1], *lines[line:]])
        case 5:
            target = random.randrange(len(lines))
            lines[line], lines[target] = lines[target], lines[line]
            return b"\n".join(lines)
        case 6 | 7:
            words[random.randrange(len(words))] = word
            lines[line] = b" ".join(words)
            return b"\n".join(lines)
        case 8:
            return data[:place] + bytes([random.randrange(256)]) + data[place + 1 :]
        case 9:
            return data[:place] + random.choice(SEPARATORS) + data[place:]
        case 10:
            return b"\n".join([*lines[:line], word, *lines[line:]])
        case _:
            return data[:place] + data[place:other][:50] * random.randint(2, 5) + data[other:]


def outcome(path: Path) -> str:
    """Read a file; whatever is not a result or a proper refusal is raised."""
    try:
        content = read(path)
    except InputError as error:
        text = str(error)
        assert text.startswith(f"{path}:")
        assert text.endswith(".")
        assert len(text.splitlines()) == 1
        assert len(text) < 600
        return "refused"
    assert isinstance(content, (Instance, InstanceSet, FileSolution))
    if isinstance(content, InstanceSet):
        assert [instance.size for instance in content] == [content.size] * len(content)
    return "read"


@pytest.mark.parametrize("sample", SAMPLES)
def test_samples_are_read(save, sample):
    assert outcome(save(SAMPLES[sample])) == "read"


@pytest.mark.parametrize("sample", SAMPLES)
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 2**32), edits=st.integers(1, 4))
def test_damaged_files(save, sample, seed, edits):
    random = Random(seed)
    data = SAMPLES[sample]
    for _ in range(edits):
        data = mutate(data, random) or b"x"
    assert outcome(save(data)) in ("read", "refused")


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
