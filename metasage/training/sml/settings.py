"""Settings of the meta-training, and the recipes that name them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any, Literal

from metasage.errors import InputError
from metasage.policies.sml import Reading
from metasage.values import (
    Amount,
    Count,
    Decay,
    LearningRate,
    Range,
    Seed,
    Strength,
    Temperature,
    Weight,
    assign,
    require_valid,
)

Teacher = Literal["sage", "eas"]

# A meta-learner looks at distances between nodes.
_Size = Annotated[int, Range(2, 10**6)]


@dataclass(frozen=True)
class SmlSettings:
    """Settings of a run of ``metasage train sml``.

    Parameters
    ----------
    reading
        Form of the meta-learner: ``official`` or ``paper``.
    sizes
        Sizes of the instances; labels are spread evenly over them.
    labels
        Number of labelled instances, over all sizes.
    teacher
        Who makes the labels: ``sage``, without meta-learner, as in the paper;
        or ``eas``, REINFORCE without bias, schedules and imitation, as in the
        published code.
    teacher_iterations, teacher_rollouts
        Iterations of the teacher, and its rollouts in each; 0 for as many as
        there are nodes.
    rollouts
        Rollouts of the zero-shot simulation; 0 for as many as there are nodes.
    batch
        Instances of each size in a step.
    steps
        Number of updates; labels are used in turn, in rounds of an order of
        their own.
    lr, lr_end
        Learning rate of Adam at the start and at the end, geometric in between.
    warmup
        Steps in which the learning rate rises to its start: the first steps of
        Adam, each as long as the rate, would throw phi far from the identity.
    clip_norm
        Largest norm of the gradient; 0 for no bound.
    average
        Decay of the running average of phi that is kept in the end; 0 keeps
        the last phi.
    distil, zero
        Weights of J_distil and of J_zero (the paper's beta).
    biased
        Weight of J_zero simulated under the locality bias with which SAGE's preset
        ``default`` begins.
    imitation
        Weight lambda of self-imitation in J_zero.
    fresh
        Whether J_zero is simulated on instances drawn anew in every step, rather
        than on the labelled ones.
    temperature
        Temperature of the simulation's samples.
    normalise_advantages
        Whether advantages in J_zero are divided by their standard deviation in
        each instance.
    guided
        Weight of imitating the best greedy tours of a policy that is guided by a
        locality bias; 0 goes without.
    guide
        That bias: its strength at N=100, which grows with the square root of N.
    seed
        Seed of everything random.
    validation
        Number of validation instances of each size that is validated.
    validation_sizes
        Those sizes.
    """

    reading: Reading = "official"
    sizes: tuple[_Size, ...] = (200, 300, 400)
    labels: Count = 4000
    teacher: Teacher = "sage"
    teacher_iterations: Count = 200
    teacher_rollouts: Amount = 0
    rollouts: Amount = 0
    batch: Count = 5
    steps: Count = 534
    lr: LearningRate = 1e-3
    lr_end: LearningRate = 1e-3
    warmup: Amount = 0
    clip_norm: Weight = 0.0
    average: Decay = 0.0
    distil: Weight = 1.0
    zero: Weight = 1.0
    biased: Weight = 0.0
    imitation: Weight = 0.005
    fresh: bool = False
    temperature: Temperature = 1.0
    normalise_advantages: bool = False
    guided: Weight = 0.0
    guide: Strength = 20.0
    seed: Seed = 1234
    validation: Count = 16
    validation_sizes: tuple[_Size, ...] = (200, 500, 1000)

    def __post_init__(self) -> None:
        require_valid(self)
        if not self.sizes:
            raise InputError("sizes must name at least one size.")
        if not (self.distil or self.zero or self.biased or self.guided):
            raise InputError(
                "distil, zero, biased and guided are all 0: there is nothing to learn."
            )

    @property
    def labels_per_size(self) -> int:
        """Number of labelled instances of each size."""
        return -(-self.labels // len(self.sizes))

    @property
    def steps_per_round(self) -> int:
        """Number of steps in which every label is used once."""
        return -(-self.labels_per_size // self.batch)

    @property
    def labelled(self) -> bool:
        """Whether labels are needed."""
        return bool(self.distil) or not self.fresh

    def lr_at(self, step: int) -> float:
        """Learning rate of a step."""
        rise = min(1.0, (step + 1) / (self.warmup + 1))
        return float(rise * self.lr * (self.lr_end / self.lr) ** (step / self.steps))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> SmlSettings:
        """Read settings from plain data, refusing unknown ones."""
        known = {item.name for item in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise InputError(
                f"'{unknown[0]}' is not a setting; known are {', '.join(sorted(known))}."
            )
        return cls(**values)

    def overridden(self, assignments: Iterable[str]) -> SmlSettings:
        """Return the settings with ``name=value`` assignments, values as in TOML."""
        return SmlSettings.from_dict(assign(self.to_dict(), assignments))


_PAPER = SmlSettings(reading="paper")

_CPU = replace(
    _PAPER,
    reading="official",
    labels=30,
    teacher_iterations=50,
    teacher_rollouts=50,
    rollouts=50,
    batch=4,
    steps=200,
    lr=2e-4,
    lr_end=2e-5,
    warmup=10,
    clip_norm=1.0,
    average=0.95,
    distil=0.1,
    fresh=True,
    temperature=0.3,
    normalise_advantages=True,
    validation=4,
)

# Guides have the strength of the bias under which greedy tours of N=300 are best; on the CVRP no
# bias makes them better, but SAGE has one. On the TSP, N=100 teaches where nothing is to be moved.
_BY_PROBLEM: dict[str, dict[str, Any]] = {
    "tsp": {"sizes": (100, 200, 400), "lr": 4e-4, "lr_end": 4e-5, "steps": 300, "biased": 1.0,
            "guide": 20.0, "guided": 0.5},
    "cvrp": {"biased": 1.0, "steps": 250},
    "pctsp": {"guide": 10.0, "guided": 0.3},
    "op": {"guide": 10.0, "guided": 0.3},
}  # fmt: skip


def sml_recipe(name: str, problem: str) -> SmlSettings:
    """Return the settings of a recipe.

    Parameters
    ----------
    name
        ``paper`` (the published ones) or ``cpu`` (those of the shipped weights).
    problem
        Name of the problem.
    """
    recipes = {"paper": _PAPER, "cpu": replace(_CPU, **_BY_PROBLEM.get(problem, {}))}
    if name not in recipes:
        raise InputError(f"recipe '{name}' is not one of {', '.join(recipes)}.")
    return recipes[name]
