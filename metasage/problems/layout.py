"""How the nodes of random instances lie in the unit square."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from metasage.errors import InputError
from metasage.problems.metric import Floats

Layout = Literal["uniform", "clustered", "mixed"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)

_SPREAD = 0.07
_MOST_CENTRES = 8


def points(random: np.random.RandomState, count: int, size: int, layout: Layout) -> Floats:
    """Draw places of shape ``(count, size, 2)``.

    ``uniform`` is the published recipe, drawn as one array. ``clustered`` puts
    each node around one of three to eight centres (normal, standard deviation
    0.07, folded back into the square); ``mixed`` does so with every second node.
    """
    if layout not in LAYOUTS:
        raise InputError(f"layout '{layout}' is not one of {', '.join(LAYOUTS)}.")
    places = random.uniform(size=(count, size, 2))
    if layout == "uniform":
        return places
    clustered = slice(None, None, 1 if layout == "clustered" else 2)
    for instance in places:
        members = instance[clustered]
        centres = random.uniform(0.1, 0.9, size=(random.randint(3, _MOST_CENTRES + 1), 2))
        chosen = centres[random.randint(len(centres), size=len(members))]
        members[:] = _fold(chosen + _SPREAD * random.standard_normal(members.shape))
    return places


def _fold(places: Floats) -> Floats:
    """Mirror what lies outside the unit square back into it."""
    return np.asarray(1.0 - np.abs(1.0 - np.mod(places, 2.0)))
