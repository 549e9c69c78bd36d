"""What tests of several packages need: models, tasks, and the method alone."""

import numpy as np
import torch

import metasage
from metasage.adaptation.loop import Loop
from metasage.adaptation.task import Task
from metasage.policies.config import PolicyConfig
from metasage.policies.model import Model
from metasage.policies.policy import AttentionPolicy
from metasage.problems.sets import generate
from metasage.rollout import get_engine
from metasage.solving.record import Record


def make_model(problem: str, **options) -> Model:
    """A small untrained model."""
    torch.manual_seed(3)
    starts = "free" if problem in ("pctsp", "op") else "forced"
    settings = {"width": 64, "layers": 2, "hidden": 64, "starts": starts} | options
    policy = AttentionPolicy(PolicyConfig(problem, **settings))
    return Model(policy.eval().requires_grad_(False))


def instance_of(model, size=20, seed=1):
    return generate(model.config.problem, size, 1, seed)[0]


def solve_alone(instance, method=None, stop=None, **options):
    """Solve by the network alone, greedily unless told otherwise."""
    return metasage.solve(instance, method or metasage.Greedy(), stop, improve="none", **options)


def make_task(model, size=15, copies=1, engine="native", seed=1):
    instance = instance_of(model, size, seed)
    return Task.of(
        instance,
        model.policy,
        get_engine(engine, model.config),
        rollouts=None,
        copies=copies,
        seed=seed,
    )


def run(strategy, task, iterations):
    """The shared loop in short, without stopping criteria."""
    record = Record(task.instance)
    Loop(record, iterations).run(strategy)
    return record


def is_nearest_neighbour_tour(coords, route):
    """Whether each node of a closed tour, from some start, is the nearest one left."""

    def follows(tour):
        return all(
            tour[i] == min(tour[i:], key=lambda node: np.linalg.norm(coords[node] - coords[here]))
            for i, here in enumerate(tour[:-1], start=1)
        )

    return any(follows(route[i:] + route[:i]) for i in range(len(route)))
