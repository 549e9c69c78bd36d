"""When each part of a search ends; the numbers are in `metasage.runtime.timing`."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from metasage.errors import InputError
from metasage.runtime.timing import (
    ANSWER_SECONDS,
    CONSTRUCTION_SECONDS,
    LATEST_PICTURE,
    LEEWAY,
    LOADING_PICTURES,
    LOADING_SHARE,
    MOST_FOR_PICTURES,
    MOST_RESERVED,
    NETWORK_SHARE,
    PICTURE_NODE_SECONDS,
    PICTURE_SECONDS,
    READING_SECONDS,
    RESERVED_NODE_SECONDS,
    RESERVED_SHARE,
)

if TYPE_CHECKING:
    from metasage.problems import Instance


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
        return self.started + self.seconds - _reserve(self.seconds, self.nodes)

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


def _reserve(seconds: float, nodes: int) -> float:
    """Return the seconds of a time limit that are kept back for the answer."""
    each = min(RESERVED_NODE_SECONDS * nodes, RESERVED_SHARE * seconds)
    return min(MOST_RESERVED, RESERVED_SHARE * seconds) + each


def require_time_to_read(path: str, seconds: float, started: float) -> None:
    """Refuse a file of text that cannot be read within a time limit; sets of arrays are fast.

    Parameters
    ----------
    path
        The file, perhaps with the number of an instance behind it.
    seconds
        The limit.
    started
        When it began.
    """
    name = path.partition("#")[0]
    if name.lower().endswith((".npz", ".pkl")):
        return
    try:
        size = os.stat(name).st_size
    except (OSError, ValueError):  # the reader will say so
        return
    wanted = READING_SECONDS * size
    if wanted > _left(seconds, started):
        raise InputError(
            f"to read it takes about {wanted:.2g} s, and {seconds:g} s is the limit.", path
        )


def require_time_to_answer(instance: Instance, seconds: float | None, started: float) -> None:
    """Refuse an instance for which any answer takes longer than a time limit."""
    if seconds is None:
        return
    each = ANSWER_SECONDS.get(instance.problem.name, max(ANSWER_SECONDS.values()))
    wanted = each * instance.num_nodes
    if wanted > _left(seconds, started):
        raise InputError(
            f"{instance.title} has {instance.num_nodes} nodes: an answer takes about "
            f"{wanted:.2g} s, and of {seconds:g} s too little is left."
        )


def _left(seconds: float, started: float) -> float:
    return max(0.0, started + seconds - time.monotonic()) + LEEWAY


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
