"""Nodes that lie at one place, which a tour visits one after another at no cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from metasage.improve.improver import measured_by_places
from metasage.problems import Instance
from metasage.problems.metric import Floats, Indices


class Places:
    """Groups of nodes, of which a tour visits all or none.

    Parameters
    ----------
    members
        Nodes of each place, the smallest first; places are in the order of those.
    """

    def __init__(self, members: Sequence[Indices]) -> None:
        self.members = members
        self.first = np.array([group[0] for group in members])
        self.place_of = np.empty(sum(map(len, members)), dtype=np.int64)
        for place, group in enumerate(members):
            self.place_of[group] = place

    @classmethod
    def of(cls, instance: Instance) -> Self | None:
        """Group the nodes of an instance; None if each has a place to itself."""
        if not measured_by_places(instance):
            return None
        assert instance.coords is not None
        _, place_of, sizes = np.unique(
            instance.coords, axis=0, return_inverse=True, return_counts=True
        )
        if len(sizes) == instance.num_nodes:
            return None
        by_place = np.argsort(place_of.ravel(), kind="stable")
        groups = np.split(by_place, np.cumsum(sizes)[:-1])
        crowd = groups[int(sizes.argmax())]
        if instance.lengths(crowd[:1], crowd[1:2]).any():
            return None  # some metrics put twins a unit apart
        return cls(sorted(groups, key=lambda group: int(group[0])))

    def sums(self, values: Floats) -> Floats:
        """Add up what the nodes of each place bring."""
        return np.bincount(self.place_of, values).astype(np.float64)

    def reduced(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Turn a tour of nodes into one of places, each where the tour came to it first."""
        places, at = np.unique(self.place_of[tour], return_index=True)
        return places[np.argsort(at)].astype(np.int32)

    def expanded(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Turn a tour of places into one of nodes."""
        return np.concatenate([self.members[place] for place in tour]).astype(np.int32)
