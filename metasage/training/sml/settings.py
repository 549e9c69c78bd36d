"""Settings of the meta-training, and the recipes that name them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from metasage.errors import InputError
from metasage.policies.sml import READINGS, Reading
from metasage.training.settings import assign

Teacher = Literal["sage", "eas"]
TEACHERS: tuple[Teacher, ...] = ("sage", "eas")

_NOT_NEGATIVE = (
    "teacher_rollouts",
    "rollouts",
    "warmup",
    "clip_norm",
    "weight_decay",
    "distil",
    "zero",
    "imitation",
)


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
    epochs
        How often each label is used.
    lr, lr_end
        Learning rate of Adam at the start and at the end, geometric in between.
    warmup
        Steps in which the learning rate rises to its start: the first steps of
        Adam, each as long as the rate, would throw phi far from the identity.
    clip_norm
        Largest norm of the gradient; 0 for no bound.
    weight_decay
        L2 term of Adam.
    distil, zero
        Weights of J_distil and of J_zero (the paper's beta).
    imitation
        Weight lambda of self-imitation in J_zero.
    normalise_advantages
        Whether advantages in J_zero are divided by their standard deviation in
        each instance.
    seed
        Seed of everything random.
    validation
        Number of validation instances of each size that is validated.
    validation_sizes
        Those sizes.
    """

    reading: Reading = "official"
    sizes: tuple[int, ...] = (200, 300, 400)
    labels: int = 4000
    teacher: Teacher = "sage"
    teacher_iterations: int = 200
    teacher_rollouts: int = 0
    rollouts: int = 0
    batch: int = 5
    epochs: int = 2
    lr: float = 1e-3
    lr_end: float = 1e-3
    warmup: int = 0
    clip_norm: float = 0.0
    weight_decay: float = 0.0
    distil: float = 1.0
    zero: float = 1.0
    imitation: float = 0.005
    normalise_advantages: bool = False
    seed: int = 1234
    validation: int = 16
    validation_sizes: tuple[int, ...] = (200, 500, 1000)

    def __post_init__(self) -> None:
        if self.reading not in READINGS:
            raise InputError(f"reading '{self.reading}' is not one of {', '.join(READINGS)}.")
        if self.teacher not in TEACHERS:
            raise InputError(f"teacher '{self.teacher}' is not one of {', '.join(TEACHERS)}.")
        if not self.sizes or min(self.sizes) < 2:
            raise InputError("sizes must name at least one size, of two nodes or more.")
        for name in ("labels", "teacher_iterations", "batch", "epochs", "validation"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)} and must be at least 1.")
        for name in _NOT_NEGATIVE:
            if getattr(self, name) < 0:
                raise InputError(f"{name} is {getattr(self, name)} and must not be negative.")
        if self.lr <= 0 or self.lr_end <= 0:
            raise InputError(f"the learning rates {self.lr} and {self.lr_end} must be positive.")

    @property
    def labels_per_size(self) -> int:
        """Number of labelled instances of each size."""
        return -(-self.labels // len(self.sizes))

    @property
    def steps_per_epoch(self) -> int:
        """Number of steps in which every label is used once."""
        return -(-self.labels_per_size // self.batch)

    @property
    def total_steps(self) -> int:
        """Number of steps of the whole run."""
        return self.epochs * self.steps_per_epoch

    def lr_at(self, step: int) -> float:
        """Learning rate of a step."""
        rise = min(1.0, (step + 1) / (self.warmup + 1))
        return float(rise * self.lr * (self.lr_end / self.lr) ** (step / self.total_steps))

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
        tuples = {n: tuple(v) for n, v in values.items() if n in ("sizes", "validation_sizes")}
        try:
            return cls(**(values | tuples))
        except TypeError as error:
            raise InputError(f"the settings are not understood: {error}.") from None

    def overridden(self, assignments: Iterable[str]) -> SmlSettings:
        """Return the settings with ``name=value`` assignments, values as in TOML."""
        return SmlSettings.from_dict(assign(self.to_dict(), assignments))


_PAPER = SmlSettings(reading="paper")

RECIPES: dict[str, SmlSettings] = {
    "paper": _PAPER,
    "cpu": replace(
        _PAPER,
        reading="official",
        labels=120,
        teacher_iterations=50,
        teacher_rollouts=50,
        rollouts=50,
        batch=4,
        epochs=30,
        lr_end=5e-5,
        warmup=10,
        clip_norm=1.0,
        normalise_advantages=True,
        validation=4,
    ),
}


def sml_recipe(name: str) -> SmlSettings:
    """Return the settings of a recipe: ``paper`` or ``cpu``."""
    if name not in RECIPES:
        raise InputError(f"recipe '{name}' is not one of {', '.join(RECIPES)}.")
    return RECIPES[name]
