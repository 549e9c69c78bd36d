"""When each part of a search ends; the numbers are in `metasage.runtime.timing`."""

from __future__ import annotations

import time
from dataclasses import dataclass

from metasage.runtime.timing import (
    CONSTRUCTION_SECONDS,
    LATEST_PICTURE,
    LOADING_PICTURES,
    LOADING_SHARE,
    MOST_FOR_PICTURES,
    MOST_RESERVED,
    NETWORK_SHARE,
    PICTURE_NODE_SECONDS,
    PICTURE_SECONDS,
    RESERVED_SHARE,
)


@dataclass(frozen=True)
class Clock:
    """A time limit, divided among the parts of a search.

    Parameters
    ----------
    started
        When it began, as a time of `time.monotonic`; so are all others here.
    seconds
        The limit; None for none.
    nodes
        Number of nodes of the instance.
    improves
        Whether local search comes after the network.
    """

    started: float
    seconds: float | None
    nodes: int
    improves: bool

    @property
    def end(self) -> float | None:
        """When the search ends, so that there is time for the answer."""
        if self.seconds is None:
            return None
        return self.started + self.seconds - _reserve(self.seconds)

    @property
    def loading(self) -> float | None:
        """When torch has to be loaded, or the network is left out."""
        return None if self.seconds is None else self.started + LOADING_SHARE * self.seconds

    def network_end(self) -> float | None:
        """When the network's part ends if it begins now."""
        if self.end is None:
            return None
        if not self.improves:
            return self.end - CONSTRUCTION_SECONDS * self.nodes
        now = time.monotonic()
        return now + NETWORK_SHARE * max(0.0, self.end - now)


def _reserve(seconds: float) -> float:
    """Return the seconds of a time limit that are kept back for the answer."""
    return min(MOST_RESERVED, RESERVED_SHARE * seconds)


def latest_picture(started: float, seconds: float) -> float:
    """Return when a picture has to be begun, or it is left out."""
    return started + seconds + LATEST_PICTURE


def picture_reserve(seconds: float, count: int, nodes: int) -> float:
    """Return the seconds of a time limit that are kept back for pictures.

    Parameters
    ----------
    seconds
        The limit.
    count
        Number of pictures.
    nodes
        Nodes that are drawn, in all of them.
    """
    wanted = LOADING_PICTURES + PICTURE_SECONDS * count + PICTURE_NODE_SECONDS * nodes
    return min(wanted, MOST_FOR_PICTURES * seconds)
