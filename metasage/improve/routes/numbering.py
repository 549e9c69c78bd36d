"""Numbers of nodes by which neighbours in the plane are neighbours in memory, too."""

from __future__ import annotations

import numpy as np

from metasage.improve.improver import measured_by_places
from metasage.problems import Instance
from metasage.problems.metric import Indices

FEW = 5_000
"""Nodes up to which all that a search knows of them fits into a processor's cache."""

_LEVELS = 16


def along_curve(instance: Instance) -> Indices:
    """Return the nodes in the order of Hilbert's curve, the first one of all in its place.

    Few nodes, and nodes with a matrix of lengths, stay in their order.

    Parameters
    ----------
    instance
        An instance.
    """
    if instance.num_nodes <= FEW or not measured_by_places(instance):
        return np.arange(instance.num_nodes)
    assert instance.coords is not None
    low, high = instance.coords.min(axis=0), instance.coords.max(axis=0)
    extent = (high - low).max() or 1.0
    side = 2**_LEVELS
    cells = ((instance.coords - low) / extent * (side - 1)).astype(np.int64)
    x, y = cells[:, 0], cells[:, 1]
    position = np.zeros(len(cells), dtype=np.int64)
    for level in reversed(range(_LEVELS)):
        half = 1 << level
        right, upper = (x & half) > 0, (y & half) > 0
        position += half * half * ((3 * right) ^ upper)
        # The lower quarters are passed through turned, the right one of them backwards.
        x, y = np.where(right & ~upper, side - 1 - x, x), np.where(right & ~upper, side - 1 - y, y)
        x, y = np.where(upper, x, y), np.where(upper, y, x)
    position[0] = -1
    return np.argsort(position, kind="stable")
