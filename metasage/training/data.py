"""The instances of a training step: a function of the seed and the step alone."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from metasage.problems import Instance, get_problem
from metasage.problems.layout import Layout
from metasage.problems.sets import InstanceSet
from metasage.training.settings import Stage, TrainingSettings


def step_seed(settings: TrainingSettings, step: int) -> int:
    """Return a seed for everything random in a step."""
    return int(np.random.SeedSequence([settings.seed, step]).generate_state(1)[0])


def training_instances(settings: TrainingSettings, stage: Stage, seed: int) -> list[Instance]:
    """Draw the instances of a step, for all processes."""
    random = np.random.default_rng(seed)
    layout: Layout = "uniform"
    if random.random() < stage.clustered:
        layout = "clustered" if random.random() < 0.5 else "mixed"
    problem = get_problem(settings.problem)
    arrays = problem.generate(stage.size, stage.batch, seed, layout)
    return list(InstanceSet(problem, arrays))


def random_starts(problem: str, size: int, rows: int, rollouts: int, seed: int) -> Tensor:
    """Draw different first nodes for the rollouts of each row.

    With more rollouts than nodes every node is taken equally often, but for
    the rest.
    """
    generator = torch.Generator().manual_seed(seed)
    rounds = -(-rollouts // size)
    orders = [torch.rand(rows, size, generator=generator).argsort(dim=1) for _ in range(rounds)]
    first = int(get_problem(problem).has_depot)
    return torch.cat(orders, dim=1)[:, :rollouts] + first
