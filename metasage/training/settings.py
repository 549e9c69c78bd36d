"""All settings of a training run, in one place."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from metasage.errors import InputError
from metasage.problems import get_problem
from metasage.training.stage import Stage
from metasage.values import Count, Decay, Seed, Size, Weight, assign, require_valid

__all__ = [
    "METHODS",
    "Method",
    "Stage",
    "TrainingSettings",
    "assign",
    "load_settings",
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
    copies: Count = 1
    invariance: Weight = 0.0
    normalise_advantages: bool = False
    weight_decay: Weight = 1e-6
    muon: Weight = 0.0
    clip_norm: Weight = 0.0
    average: Decay = 0.0
    policy: dict[str, Any] = field(default_factory=dict)
    start_from: str = ""
    seed: Seed = 1234
    validation_sizes: tuple[Size, ...] = (100,)
    validation_count: Count = 64
    validate_every: Count = 1000
    save_every: Count = 200
    log_every: Count = 20

    def __post_init__(self) -> None:
        require_valid(self)
        get_problem(self.problem)
        if not self.stages:
            raise InputError("a run needs at least one stage.")
        if self.method == "pomo" and self.copies != 1:
            raise InputError(f"{self.copies} copies do not fit {self.method}.")
        if any(stage.reinforce and stage.rollouts * self.copies < 2 for stage in self.stages):
            raise InputError("a shared baseline needs at least two rollouts of an instance.")
        if not self.validation_sizes:
            raise InputError("a run needs at least one of validation_sizes.")

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
            stages = tuple(Stage(**stage) for stage in values["stages"])
            return cls(**(values | {"stages": stages}))
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
