"""Large CVRPs: regions of neighbouring routes are searched one after another.

Some routes that are near each other are an instance of their own, and a small one
(Taillard and Voss 2002); a search of thousands of customers at once would spend a
minute on little more than its preparation.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from metasage.improve.long_routes import MOST_CUSTOMERS, shorten_long_routes
from metasage.improve.team import Job, Team
from metasage.problems import Solution, check
from metasage.problems.cvrp import CvrpInstance
from metasage.problems.loads import load_limit
from metasage.problems.metric import Floats

# Seconds for a region: about as many as it needs, at least, and too few to begin with.
_WANTED, _LEAST, _TOO_FEW = 2.0, 1.0, 0.5

# With much time, regions get more of it rather than further turns.
_MOST_PASSES = 10

# Seconds for each customer to put the last routes together and to check them.
_CONCLUSION = 3e-5

Routes = list[list[int]]
Offer = Callable[[Routes], None]


class Region:
    """Some routes of an instance, and the instance that they are by themselves.

    Parameters
    ----------
    whole
        The instance.
    routes
        Routes of it.
    """

    def __init__(self, whole: CvrpInstance, routes: Routes) -> None:
        self.routes = routes
        self._most = load_limit(whole.demand, whole.capacity)
        nodes = np.array([0, *sorted(node for route in routes for node in route)])
        self._nodes: NDArray[np.int64] = nodes
        self.instance = CvrpInstance(
            **whole.geometry(nodes), demand=whole.demand[nodes], capacity=whole.capacity
        )
        self._length = self._measured(self.job(0).routes)

    def _measured(self, inside: Routes) -> float:
        length = check(self.instance, Solution(inside)).objective
        assert length is not None
        return length

    def job(self, seed: int) -> Job:
        """Return the search from its routes."""
        own = {int(node): index for index, node in enumerate(self._nodes)}
        inside = [[own[node] for node in route] for route in self.routes]
        return Job(self.instance, inside, seed)

    def replace(self, found: Routes) -> bool:
        """Take over routes of its own instance if they are better; say whether they are.

        The slack of loads is that of the whole instance, whose demands may be rounded
        in another way than those of a part.
        """
        loads = [self.instance.demand[route].sum() for route in found]
        length = self._measured(found)
        if length >= self._length or max(loads) > self._most:
            return False
        self._length = length
        self.routes = [[int(self._nodes[node]) for node in route] for route in found]
        return True


def search_regions(
    instance: CvrpInstance,
    routes: Routes,
    *,
    deadline: float | None,
    kicks: int | None,
    seed: int,
    threads: int,
    offer: Offer,
) -> None:
    """Search region after region, and then other regions, until the time is over.

    Parameters
    ----------
    instance
        The whole instance.
    routes
        Feasible routes.
    deadline
        Time of `time.monotonic` at which to come back.
    kicks
        Iterations, shared by the regions; the result depends on the seed alone then.
    seed
        Seed of everything random.
    threads
        Number of processes.
    offer
        Called with better routes of the whole instance.
    """
    random = np.random.default_rng(seed)
    begun = time.monotonic()
    if deadline is not None:
        deadline -= _CONCLUSION * instance.size
    if max(map(len, routes), default=0) > MOST_CUSTOMERS:
        routes = shorten_long_routes(
            instance,
            routes,
            MOST_CUSTOMERS,
            deadline=deadline,
            kicks=kicks,
            seed=seed,
            threads=threads,
        )
        offer(routes)
    with Team() as team:
        while deadline is None or deadline - time.monotonic() > _TOO_FEW:
            regions = [Region(instance, part) for part in cut(instance, routes, random)]
            # Long routes are done with.
            searched = [region for region in regions if region.instance.size <= MOST_CUSTOMERS]
            if kicks is not None:
                _spend(kicks, regions, searched, seed, deadline, team, offer)
            if kicks is not None or not searched:
                return
            assert deadline is not None
            seconds = _seconds_each(deadline - begun, -(-len(searched) // threads))
            for first in range(0, len(searched), threads):
                end = min(deadline, time.monotonic() + seconds)
                if end - time.monotonic() > _TOO_FEW:
                    together = searched[first : first + threads]
                    jobs = [region.job(int(random.integers(2**32))) for region in together]
                    team.search(jobs, end, _replacing(regions, together, offer))
            routes = _joined(regions)


def _spend(
    kicks: int,
    regions: list[Region],
    searched: list[Region],
    seed: int,
    deadline: float | None,
    team: Team,
    offer: Offer,
) -> None:
    """Search each region for its share of a number of iterations."""
    for number, region in enumerate(searched):
        if deadline is None or deadline - time.monotonic() > _TOO_FEW:
            share = kicks * (number + 1) // len(searched) - kicks * number // len(searched)
            replace = partial(_replacing(regions, [region], offer), 0)
            team.search_here(region.job(seed), deadline, share, replace)


def _replacing(
    regions: list[Region], together: list[Region], offer: Offer
) -> Callable[[int, Routes], None]:
    """Return what takes over better routes of one of the regions that are searched together."""

    def replace(number: int, found: Routes) -> None:
        if together[number].replace(found):
            offer(_joined(regions))

    return replace


def _seconds_each(total: float, turns: int) -> float:
    """Share the time between the turns of one pass or of several."""
    passes = max(1, round(min(_MOST_PASSES, total / (turns * _WANTED))))
    return max(_LEAST, total / (turns * passes))


def _joined(regions: list[Region]) -> Routes:
    return [route for region in regions for route in region.routes]


def cut(instance: CvrpInstance, routes: Routes, random: np.random.Generator) -> list[Routes]:
    """Cut the plane, and with it the routes, into halves until they are small.

    The first cut has any direction, those after it are square to the one before.
    Without coordinates, the lengths from two nodes stand for them.
    """
    routes = [route for route in routes if route]
    places = instance.coords
    if places is None:
        assert instance.matrix is not None
        places = instance.matrix[:, random.integers(instance.num_nodes, size=2)]
    centres = np.array([places[route].mean(axis=0) for route in routes])
    sizes = np.array([len(route) for route in routes])
    angle = random.uniform(0, np.pi)
    pieces = _halved(centres, sizes, np.arange(len(routes)), angle)
    return [[routes[number] for number in piece] for piece in pieces]


def _halved(
    centres: Floats, sizes: NDArray[np.int64], chosen: NDArray[np.int64], angle: float
) -> list[NDArray[np.int64]]:
    if len(chosen) < 2 or sizes[chosen].sum() <= MOST_CUSTOMERS:
        return [chosen]
    along = centres[chosen] @ np.array([np.cos(angle), np.sin(angle)])
    ordered = chosen[np.argsort(along, kind="stable")]
    customers = np.cumsum(sizes[ordered])
    middle = int(np.searchsorted(customers, customers[-1] / 2, side="right"))
    middle = min(max(middle, 1), len(ordered) - 1)
    square = angle + np.pi / 2
    return [
        *_halved(centres, sizes, ordered[:middle], square),
        *_halved(centres, sizes, ordered[middle:], square),
    ]
