"""A part of a training run: which instances, which losses, how many steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from metasage.errors import InputError
from metasage.values import (
    Amount,
    Count,
    LearningRate,
    Range,
    Share,
    Size,
    Weight,
    require_valid,
)


@dataclass(frozen=True)
class Stage:
    """A part of a run, with instances and losses of its own.

    Parameters
    ----------
    sizes
        Numbers of nodes to visit; each step draws one of them.
    batch
        Instances of a step at the first size, over all processes. Larger
        instances are fewer, so that a step has about as many nodes.
    rollouts
        Sampled rollouts of each copy of an instance.
    steps
        Number of updates.
    lr, lr_end
        Learning rate at the start and at the end, geometric in between;
        constant if ``lr_end`` is 0.
    clustered
        Share of the steps whose nodes lie in clusters, or in a mixture of both.
    varied
        Whether capacities, length limits, penalties and prizes differ from
        instance to instance, in place of the published constants.
    reinforce
        Weight of the policy gradient; with 0 nothing is sampled.
    imitation
        Weight of the negative log-likelihood of local search's solutions, per
        decision.
    forms
        Equivalent forms of each solution that are imitated, as far as there
        are so many.
    labels
        Number of different solved instances of each size and layout, which come
        again and again; 0 for always new ones.
    kicks
        Kicks of local search for each node of an instance.
    """

    sizes: tuple[Size, ...]
    batch: Count
    rollouts: Count
    steps: Count
    lr: LearningRate
    lr_end: Annotated[float, Range(0.0, 10.0)] = 0.0
    clustered: Share = 0.0
    varied: bool = False
    reinforce: Weight = 1.0
    imitation: Weight = 0.0
    forms: Count = 8
    labels: Amount = 0
    kicks: Weight = 1.0

    def __post_init__(self) -> None:
        require_valid(self)
        if not self.sizes:
            raise InputError("a stage needs at least one size.")
        if self.reinforce == 0 and self.imitation == 0:
            raise InputError("reinforce or imitation of a stage must be positive.")

    def batch_at(self, size: int) -> int:
        """Return the number of instances of a step at one of the sizes."""
        return max(1, round(self.batch * self.sizes[0] / size))

    @property
    def instances(self) -> float:
        """Expected number of instances of the whole stage."""
        return self.steps * sum(map(self.batch_at, self.sizes)) / len(self.sizes)

    def work_at(self, size: int) -> int:
        """Work of a step at one of the sizes: the decoded nodes of all its instances."""
        sampled = self.rollouts if self.reinforce else 0
        imitated = self.forms if self.imitation else 0
        return self.batch_at(size) * size * (sampled + imitated)

    @property
    def work(self) -> float:
        """Expected work of a step."""
        return sum(map(self.work_at, self.sizes)) / len(self.sizes)

    def lr_at(self, step: int) -> float:
        """Learning rate of a step of this stage."""
        if not self.lr_end:
            return self.lr
        return float(self.lr * (self.lr_end / self.lr) ** (step / self.steps))
