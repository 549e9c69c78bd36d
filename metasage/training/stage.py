"""A part of a training run: which instances, which losses, how many steps."""

from __future__ import annotations

from dataclasses import dataclass

from metasage.errors import InputError
from metasage.values import require_at_least, require_kinds


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

    sizes: tuple[int, ...]
    batch: int
    rollouts: int
    steps: int
    lr: float
    lr_end: float = 0.0
    clustered: float = 0.0
    varied: bool = False
    reinforce: float = 1.0
    imitation: float = 0.0
    forms: int = 8
    labels: int = 0
    kicks: float = 1.0

    def __post_init__(self) -> None:
        require_kinds(self)
        if not self.sizes or min(self.sizes) < 1:
            raise InputError(f"sizes of a stage are {list(self.sizes)} and must be at least 1.")
        require_at_least(self, 1, "batch", "rollouts", "steps", "forms")
        require_at_least(self, 0, "reinforce", "imitation", "labels", "kicks")
        if self.reinforce == 0 and self.imitation == 0:
            raise InputError("reinforce or imitation of a stage must be positive.")
        if self.lr <= 0 or self.lr_end < 0:
            raise InputError(f"the learning rates {self.lr} and {self.lr_end} are not understood.")
        if not 0 <= self.clustered <= 1:
            raise InputError(f"clustered is {self.clustered} and must lie between 0 and 1.")

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
