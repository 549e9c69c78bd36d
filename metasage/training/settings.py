"""All settings of a training run, in one place."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from metasage.errors import InputError
from metasage.numbers import require_seed
from metasage.problems import get_problem
from metasage.training.stage import Stage
from metasage.values import assign, require_at_least, require_kinds, with_tuples

__all__ = [
    "METHODS",
    "Method",
    "Stage",
    "TrainingSettings",
    "assign",
    "load_settings",
    "require_kinds",
]

Method = Literal["pomo", "symnco"]
METHODS: tuple[Method, ...] = ("pomo", "symnco")


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of a run. The command line is made of them, and so are recipes.

    Parameters
    ----------
    method
        ``pomo`` (Kwon et al. 2020) or ``symnco`` (Kim et al. 2022).
    problem
        Name of the problem.
    stages
        Parts of the run, one after another.
    copies
        Symmetric copies of each instance (Sym-NCO); 1 for POMO.
    invariance
        Weight of Sym-NCO's invariance loss, where a stage has the policy
        gradient.
    normalise_advantages
        Whether advantages are divided by their standard deviation in each
        instance, which makes early training much faster.
    weight_decay
        L2 term of Adam.
    muon
        Size of Muon's updates of matrices as a multiple of the learning rate;
        0 for Adam on all parameters.
    clip_norm
        Largest norm of the gradient; 0 for no bound.
    average
        Decay of the moving average of the weights, which is what is validated
        and saved; 0 for the weights themselves.
    policy
        Options of the policy that differ from the method's own.
    start_from
        Network, by name or file, whose tensors the run starts from where they
        fit.
    seed
        Seed of everything random.
    validation_sizes
        Sizes of the validation instances.
    validation_count
        Their number at sizes for which no reference is known.
    validate_every, save_every, log_every
        Number of steps between validations, checkpoints and log lines.
    """

    method: Method
    problem: str
    stages: tuple[Stage, ...]
    copies: int = 1
    invariance: float = 0.0
    normalise_advantages: bool = False
    weight_decay: float = 1e-6
    muon: float = 0.0
    clip_norm: float = 0.0
    average: float = 0.0
    policy: dict[str, Any] = field(default_factory=dict)
    start_from: str = ""
    seed: int = 1234
    validation_sizes: tuple[int, ...] = (100,)
    validation_count: int = 64
    validate_every: int = 1000
    save_every: int = 200
    log_every: int = 20

    def __post_init__(self) -> None:
        require_kinds(self)
        require_seed(self.seed)
        if self.method not in METHODS:
            raise InputError(f"method '{self.method}' is not one of {', '.join(METHODS)}.")
        get_problem(self.problem)
        if not self.stages:
            raise InputError("a run needs at least one stage.")
        if self.copies < 1 or (self.method == "pomo" and self.copies != 1):
            raise InputError(f"{self.copies} copies do not fit {self.method}.")
        if any(stage.reinforce and stage.rollouts * self.copies < 2 for stage in self.stages):
            raise InputError("a shared baseline needs at least two rollouts of an instance.")
        require_at_least(self, 0, "invariance", "weight_decay", "muon", "clip_norm", "average")
        if self.average >= 1:
            raise InputError(f"average is {self.average} and must be below 1.")
        if not self.validation_sizes or min(self.validation_sizes) < 1:
            sizes = list(self.validation_sizes)
            raise InputError(f"validation_sizes are {sizes} and must be at least 1.")
        require_at_least(self, 1, "validation_count", "validate_every", "save_every", "log_every")

    @property
    def total_steps(self) -> int:
        """Number of updates of the whole run."""
        return sum(stage.steps for stage in self.stages)

    @property
    def total_instances(self) -> int:
        """Number of instances that the whole run sees, expected where sizes are drawn."""
        return round(sum(stage.instances for stage in self.stages))

    def work_after(self, step: int) -> float:
        """Return the expected work of all later steps, in the units of `Stage.work`."""
        left = 0.0
        for stage in self.stages:
            done = min(step, stage.steps)
            left += (stage.steps - done) * stage.work
            step -= done
        return left

    def at(self, step: int) -> tuple[Stage, int]:
        """Return the stage of a step, and the step inside it."""
        for stage in self.stages:
            if step < stage.steps:
                return stage, step
            step -= stage.steps
        raise IndexError(step)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TrainingSettings:
        """Read settings from plain data, refusing unknown ones."""
        known = {item.name for item in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise InputError(
                f"'{unknown[0]}' is not a setting; known are {', '.join(sorted(known))}."
            )
        try:
            stages = tuple(Stage(**with_tuples(stage)) for stage in values["stages"])
            return cls(**(with_tuples(values) | {"stages": stages}))
        except (TypeError, KeyError) as error:
            raise InputError(f"the settings are not understood: {error}.") from None

    def overridden(self, assignments: Iterable[str]) -> TrainingSettings:
        """Return the settings with ``name=value`` assignments, values as in TOML.

        ``stages.0.lr=1e-4`` sets a value of one stage.
        """
        return TrainingSettings.from_dict(assign(self.to_dict(), assignments))


def load_settings(path: str | Path) -> TrainingSettings:
    """Read settings from a TOML file."""
    try:
        with open(path, "rb") as file:
            return TrainingSettings.from_dict(tomllib.load(file))
    except OSError as error:
        raise InputError(f"{error.strerror or 'cannot be read'}.", path) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"this is not TOML ({error}).", path) from None
    except InputError as error:
        raise InputError(error.message, path) from None
