"""What a training step works on: a function of the settings and the step alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from metasage.problems import Instance, get_problem
from metasage.problems.layout import Layout
from metasage.problems.sets import InstanceSet
from metasage.training.settings import TrainingSettings
from metasage.training.solved import Kind, Shard
from metasage.training.stage import Stage


@dataclass(frozen=True)
class StepPlan:
    """What a step works on.

    Parameters
    ----------
    step
        Number of the step in the run.
    stage
        Its stage.
    seed
        Seed of everything random in it.
    kind
        What its instances have in common.
    count
        Number of instances, over all processes.
    first
        How many solved instances of this kind were taken before.
    """

    step: int
    stage: Stage
    seed: int
    kind: Kind
    count: int
    first: int = 0

    @property
    def positions(self) -> list[int]:
        """Places of the instances in the sequence of their kind, if they come solved."""
        places = range(self.first, self.first + self.count) if self.stage.imitation else range(0)
        return [place % self.stage.labels if self.stage.labels else place for place in places]

    @cached_property
    def shards(self) -> list[Shard]:
        """Shards that hold them."""
        length = self.kind.shard_length
        indices = dict.fromkeys(position // length for position in self.positions)
        return [Shard(self.kind, index) for index in indices]


def plan_steps(settings: TrainingSettings, first: int = 0) -> Iterator[StepPlan]:
    """Plan the steps of a run from one on; of those before it, labels alone are counted."""
    taken: Counter[Kind] = Counter()
    for step in range(settings.total_steps):
        stage, _ = settings.at(step)
        if step < first and not stage.imitation:
            continue
        seed = step_seed(settings, step)
        random = np.random.default_rng(seed)
        layout: Layout = "uniform"
        if random.random() < stage.clustered:
            layout = "clustered" if random.random() < 0.5 else "mixed"
        size = stage.sizes[int(random.integers(len(stage.sizes)))]
        kind = Kind(settings.problem, size, layout, stage.varied, stage.kicks)
        count = stage.batch_at(size)
        if step >= first:
            yield StepPlan(step, stage, seed, kind, count, taken[kind])
        if stage.imitation:
            taken[kind] += count


def step_seed(settings: TrainingSettings, step: int) -> int:
    """Return a seed for everything random in a step."""
    return int(np.random.SeedSequence([settings.seed, step]).generate_state(1)[0])


def new_instances(plan: StepPlan) -> list[Instance]:
    """Draw the instances of a step that needs no solutions, for all processes."""
    kind = plan.kind
    problem = get_problem(kind.problem)
    arrays = problem.generate(kind.size, plan.count, plan.seed, kind.layout, kind.varied)
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
