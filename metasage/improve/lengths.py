"""What both native searches are told: how to measure edges, and how long to go on."""

from __future__ import annotations

from typing import Any

import numpy as np

from metasage.problems import Instance
from metasage.problems.metric import METRICS
from metasage.runtime.patience import Patience


def measured_by_places(instance: Instance) -> bool:
    """Say whether the native code measures edges itself; else it is given a matrix."""
    return instance.matrix is None and instance.metric.name in METRICS


def native_lengths(instance: Instance) -> dict[str, Any]:
    """Describe how edges are measured to the native code."""
    if measured_by_places(instance):
        measure, rounding = instance.metric.name, instance.metric.rounding
        return {"measure": measure, "rounding": rounding, "data": instance.coords}
    matrix = np.ascontiguousarray(instance.length_matrix())
    return {"measure": "EXPLICIT", "rounding": "none", "data": matrix}


def native_effort(threads: int, patience: Patience, seed: int) -> dict[str, Any]:
    """Describe to the native code how much it may do."""
    return {
        "threads": threads,
        "seed": seed,
        "seconds_left": patience.seconds_left,
        "stopped": patience.stopped,
    }
