"""How PyVRP is run: once for routes, in rounds for a single tour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyvrp
from pyvrp.IteratedLocalSearch import IteratedLocalSearchCallbacks, IteratedLocalSearchParams
from pyvrp.stop import MaxRuntime

from metasage.baselines.base import Track
from metasage.baselines.heuristics import random_insertion
from metasage.baselines.pyvrp_model import PyvrpModel
from metasage.baselines.two_opt import two_opt
from metasage.improve.nearest import nearest_neighbour
from metasage.problems import Instance, Solution
from metasage.problems.base import TOLERANCE
from metasage.problems.op import Op
from metasage.problems.pctsp import Pctsp

# Shares of the time that the rounds of a single tour get. The PCTSP needs many
# of them to find its weight; the others spend their time best in one, before
# 2-opt makes room for more.
_BARGAINING = (1 / 30,) * 30
_POLISHING = (0.8, 0.1, 0.1)

# Up to this size PyVRP starts from a tour of its own, a random one improved, which
# ends better; for more nodes that alone would take seconds.
_MOST_FOR_OWN_START = 600

# Length of the history of late acceptance where a round is short; PyVRP's own is
# meant for long runs.
_SHORT_HISTORY = 50

# Factor of the PCTSP's weight from round to round, at first and at last.
_FIRST_STEP, _LAST_STEP, _STEP_DECAY = 1.5, 1.01, 0.6


def run(
    data: pyvrp.ProblemData,
    seconds: float,
    seed: int,
    settings: IteratedLocalSearchParams,
    initial: pyvrp.Solution | None = None,
) -> pyvrp.Solution:
    """Run PyVRP once, and return its best solution."""
    stop = MaxRuntime(seconds)
    stop(0)  # the clock starts with the first call, which would come after the set-up
    return pyvrp.solve(
        data,
        stop,
        seed % 2**32,
        collect_stats=False,
        params=pyvrp.SolveParams(ils=settings),
        initial_solution=initial,
    ).best


class Offering(IteratedLocalSearchCallbacks):
    """Offers every new best solution to a track."""

    def __init__(self, model: PyvrpModel, track: Track) -> None:
        self.model, self.track = model, track

    def on_best(self, best: pyvrp.Solution) -> None:  # noqa: D102
        self.track.offer(self.model.from_pyvrp(best))


def search_routes(model: PyvrpModel, track: Track, seed: int) -> None:
    """Search for several routes: one run."""
    settings = IteratedLocalSearchParams(callbacks=Offering(model, track))
    best = run(model.data(), track.left(), seed, settings)
    track.offer(model.from_pyvrp(best))


def search_tour(model: PyvrpModel, track: Track, seed: int) -> None:
    """Search for a single tour, in rounds.

    PyVRP never reverses a part of a route, so 2-opt does it after each round, and
    the next starts from there.
    """
    instance = model.instance
    bargain = Bargain(instance) if isinstance(instance, Pctsp) else None
    tour = two_opt(instance, _first_tour(instance, seed))
    track.offer(tour)
    for number, share in enumerate(_POLISHING if bargain is None else _BARGAINING):
        if bargain is None:
            data, settings = model.data(), IteratedLocalSearchParams()
            settings.callbacks = Offering(model, track)
        else:
            data = model.data(bargain.weight)
            settings = IteratedLocalSearchParams(history_length=_SHORT_HISTORY)
            settings.callbacks = Collecting(model, track, bargain.weight)
        seconds = min(track.left(), share * track.limit)
        starts_anew = number == 0 and instance.num_nodes <= _MOST_FOR_OWN_START
        start = None if starts_anew else model.to_pyvrp(tour, data)
        found = run(data, seconds, seed + number, settings, start)
        tour = two_opt(instance, model.from_pyvrp(found))
        track.offer(tour)
        if bargain is not None:
            bargain.adjust(tour)


def _first_tour(instance: Instance, seed: int) -> Solution:
    """Construct a tour; insertion takes neither nodes to leave out nor directions well."""
    if isinstance(instance, (Op, Pctsp)) or instance.is_directed:
        return nearest_neighbour(instance)
    return random_insertion(instance, seed)


class Collecting(Offering):
    """Offers every tour that is the best of those that collect enough.

    Which tour is best for PyVRP depends on the weight of the prizes; the one
    we look for may be another.
    """

    def __init__(self, model: PyvrpModel, track: Track, weight: float) -> None:
        super().__init__(model, track)
        assert isinstance(model.instance, Pctsp)
        self.prize, self.least = model.instance.prize, model.instance.min_prize
        self.total, self.weight = float(self.prize.sum()), weight

    def on_iteration(  # noqa: D102
        self,
        current: pyvrp.Solution,
        candidate: pyvrp.Solution,
        best: pyvrp.Solution,
        cost_evaluator: pyvrp.CostEvaluator,
    ) -> None:
        known = self.track.record.objective or np.inf
        cost = (candidate.distance() + candidate.uncollected_prizes()) / self.model.unit
        # A tour that collects enough skips no more than the rest: most are not worth a look.
        if cost - self.weight * (self.total - self.least) >= known:
            return
        tour = self.model.from_pyvrp(candidate)
        collected = float(self.prize[list(tour.routes[0])].sum())
        if collected >= self.least and cost - self.weight * (self.total - collected) < known:
            self.track.offer(tour)


@dataclass
class Bargain:
    """Finds the weight of the prizes at which tours just collect enough.

    Up where a tour collected too little, down where it collected enough, by a
    factor that shrinks whenever the direction changes.
    """

    instance: Pctsp
    weight: float = 0.0
    step: float = _FIRST_STEP
    collected_enough: bool | None = None

    def __post_init__(self) -> None:
        nodes = np.arange(self.instance.num_nodes)
        home = self.instance.lengths(np.zeros_like(nodes), nodes)
        self.weight = 3.0 * float(home.mean()) / self.instance.min_prize

    def adjust(self, tour: Solution) -> None:
        """Learn from the tour of a round."""
        collected = float(self.instance.prize[list(tour.routes[0])].sum())
        enough = collected >= self.instance.min_prize * (1 - TOLERANCE)
        if self.collected_enough not in (None, enough):
            self.step = max(_LAST_STEP, self.step**_STEP_DECAY)
        self.collected_enough = enough
        self.weight *= 1 / self.step if enough else self.step
