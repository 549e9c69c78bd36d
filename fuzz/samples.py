"""One small file of each format that is read."""

from __future__ import annotations

import io
import json
import pickle
from typing import Any

import numpy as np

from metasage.problems.sets import generate

PLACES = "NODE_COORD_SECTION\n1 0 0\n2 3 0\n3 3.5 4e0\n4 0 4\n"


def _keyword_file(kind: str, *parts: str, metric: str = "EUC_2D") -> bytes:
    head = f"NAME : x\nTYPE : {kind}\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : {metric}\n"
    return "".join([head, *parts, "EOF\n"]).encode()


def _archive(problem: str, compressed: bool) -> bytes:
    buffer = io.BytesIO()
    save = np.savez_compressed if compressed else np.savez
    arrays: dict[str, Any] = generate(problem, size=4, count=2, seed=1).arrays
    save(buffer, **arrays)
    return buffer.getvalue()


def _pickled(protocol: int) -> bytes:
    arrays = generate("cvrp", size=4, count=3, seed=1).arrays
    columns = [arrays[name].tolist() for name in ("depot", "loc", "demand", "capacity")]
    return pickle.dumps(list(zip(*columns, strict=True)), protocol)


SAMPLES: dict[str, bytes] = {
    "tsp": _keyword_file("TSP", PLACES),
    "geo": _keyword_file("TSP", PLACES, metric="GEO"),
    "matrix": _keyword_file(
        "TSP",
        "EDGE_WEIGHT_FORMAT: LOWER_DIAG_ROW\nEDGE_WEIGHT_SECTION\n0 12 0\n13 23 0 14 24 34 0\n",
        PLACES.replace("NODE_COORD", "DISPLAY_DATA"),
        metric="EXPLICIT",
    ),
    "full": _keyword_file(
        "TSP",
        "EDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n",
        "0 1 2 3\n1 0 4 5\n2 4 0 6\n3 5 6 0\n",
        metric="EXPLICIT",
    ),
    "tour": b"NAME : x\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n1\n3\n2\n4\n-1\nEOF\n",
    "vrp": _keyword_file(
        "CVRP",
        "CAPACITY : 10\nDISTANCE : 0\n",
        PLACES,
        "DEMAND_SECTION\n1 0\n2 5\n3 6\n4 4\nDEPOT_SECTION\n 1\n -1\n",
    ),
    "limits": _keyword_file(
        "ACVRP",
        "CAPACITY : 10\nDISTANCE : 40.5\nVEHICLES : 3\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n",
        "EDGE_WEIGHT_SECTION\n0 1 2 3\n4 0 5 6\n7 8 0 9\n1 2 3 0\n",
        "DEMAND_SECTION\n1 0\n2 5\n3 6\n4 4\n",
        "SERVICE_TIME_SECTION\n1 0\n2 1\n3 2\n4 0.5\nDEPOT_SECTION\n 1\n -1\n",
        metric="EXPLICIT",
    ),
    "sol": b"Route #1: 1 3\nRoute #2: 2\nCost 24\nTime 3.5\n",
    "oplib": _keyword_file(
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
    "npz": _archive("cvrp", compressed=False),
    "npz zip": _archive("op", compressed=True),
    "npz pctsp": _archive("pctsp", compressed=True),
    "pkl 2": _pickled(2),
    "pkl 4": _pickled(4),
    "pkl 5": _pickled(5),
}
