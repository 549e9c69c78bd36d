"""Tasks for methods, and how they are run."""

import numpy as np

from metasage.adaptation.result import Incumbent
from metasage.adaptation.stop import MaxIterations
from metasage.adaptation.task import Task
from metasage.problems.sets import generate
from metasage.rollout import get_engine


def make_task(model, size=15, copies=1, engine="native", seed=1):
    instance = generate(model.config.problem, size, 1, seed)[0]
    roller = get_engine(engine, model.config)
    return Task.of(instance, model.policy, roller, rollouts=None, copies=copies, seed=seed)


def run(strategy, task, iterations):
    """The shared loop in short, without stopping criteria."""
    from metasage.adaptation.callbacks import Callbacks
    from metasage.adaptation.search import Search

    incumbent = Incumbent(task.instance)
    stop = MaxIterations(iterations)
    Search(incumbent, stop, iterations, None, Callbacks(), 0.0).run(strategy)
    return incumbent


def is_nearest_neighbour_tour(coords, route):
    """Whether each node of a closed tour, from some start, is the nearest one left."""

    def follows(tour):
        return all(
            tour[i] == min(tour[i:], key=lambda node: np.linalg.norm(coords[node] - coords[here]))
            for i, here in enumerate(tour[:-1], start=1)
        )

    return any(follows(route[i:] + route[:i]) for i in range(len(route)))
