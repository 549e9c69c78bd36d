"""LKH through elkai, for the TSP.

LKH (Helsgaun 2000) is free for academic and non-commercial use only; elkai
bundles it, which is why it is an optional extra.
"""

from __future__ import annotations

import numpy as np

from metasage.errors import InputError
from metasage.problems import Instance, Solution

# Lengths become integers; so many digits are kept where they are not.
_RESOLUTION = 1_000_000


def solve(instance: Instance, seconds: float, seed: int) -> Solution:
    """Solve a TSP; LKH decides itself when it is done."""
    try:
        import elkai  # type: ignore[import-untyped]
    except ImportError:
        raise InputError("LKH needs the package elkai: pip install metasage[baselines].") from None
    if instance.problem.name != "tsp":
        raise InputError(f"LKH solves the tsp here, not {instance.problem.name}.")
    if instance.num_nodes <= 3:
        return Solution([range(instance.num_nodes)])
    lengths = instance.length_matrix()
    whole = instance.metric.is_integral
    scale = 1.0 if whole else _RESOLUTION / max(float(lengths.max()), 1e-12)
    matrix = np.rint(lengths * scale).astype(int).tolist()
    tour = elkai.DistanceMatrix(matrix).solve_tsp()
    return Solution([tour[:-1]])
