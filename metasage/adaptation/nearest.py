"""Nearest neighbour: an answer when there is no time for anything else."""

from __future__ import annotations

import numpy as np
import torch

from metasage.problems import Instance, Solution
from metasage.problems.batch import Batch


def nearest_neighbour(instance: Instance) -> Solution:
    """Go to the nearest node that the rules allow, and home when there is none."""
    batch = Batch.of([instance])
    problem = batch.problem
    rules = problem.rules(batch, 1)
    actions: list[int] = []
    while not bool(rules.done.all()):
        allowed = (~rules.forbidden())[0, 0].numpy()
        customers = np.flatnonzero(allowed[1:]) + 1
        if not problem.has_depot:
            customers = np.flatnonzero(allowed)
        # A single tour that is to be short ends as soon as it may.
        enough = problem.sense == "min" and problem.single_tour and problem.has_depot and allowed[0]
        home = len(customers) == 0 or enough
        if home or (not actions and not problem.has_depot):
            node = 0
        else:
            here = np.full(len(customers), actions[-1] if actions else 0)
            node = int(customers[instance.lengths(here, customers).argmin()])
        rules.step(torch.tensor([[node]]))
        actions.append(node)
    return problem.to_solution(actions)
