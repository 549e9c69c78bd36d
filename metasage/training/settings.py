"""All settings of a training run, in one place."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from metasage.errors import InputError
from metasage.numbers import require_seed
from metasage.problems import get_problem

Method = Literal["pomo", "symnco"]
METHODS: tuple[Method, ...] = ("pomo", "symnco")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


# What a setting may be, by its annotation.
_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("a whole number", _is_whole),
    "float": ("a finite number", _is_finite),
    "bool": ("true or false", lambda value: isinstance(value, bool)),
    "str": ("a text", lambda value: isinstance(value, str)),
    "tuple[int, ...]": (
        "a list of whole numbers",
        lambda value: isinstance(value, tuple) and all(map(_is_whole, value)),
    ),
}


def require_kinds(settings: Any) -> None:
    """Complain about a value that is not of its setting's kind, as a file may give one.

    Parameters
    ----------
    settings
        A dataclass whose annotations are strings.
    """
    for item in fields(settings):
        if item.type in _KINDS:
            kind, fits = _KINDS[item.type]
            if not fits(value := getattr(settings, item.name)):
                raise InputError(f"{item.name} is {value!r} and must be {kind}.")


@dataclass(frozen=True)
class Stage:
    """A part of a run, with instances of its own size.

    Parameters
    ----------
    size
        Number of nodes to visit.
    batch
        Instances of a step, over all processes.
    rollouts
        Rollouts of each copy of an instance.
    steps
        Number of updates.
    lr, lr_end
        Learning rate at the start and at the end, geometric in between;
        constant if ``lr_end`` is 0.
    clustered
        Share of the steps whose nodes lie in clusters, or in a mixture of both.
    """

    size: int
    batch: int
    rollouts: int
    steps: int
    lr: float
    lr_end: float = 0.0
    clustered: float = 0.0

    def __post_init__(self) -> None:
        require_kinds(self)
        for name in ("size", "batch", "rollouts", "steps"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} of a stage is {getattr(self, name)}, must be at least 1.")
        if self.lr <= 0 or self.lr_end < 0:
            raise InputError(f"the learning rates {self.lr} and {self.lr_end} are not understood.")
        if not 0 <= self.clustered <= 1:
            raise InputError(f"clustered is {self.clustered} and must lie between 0 and 1.")

    @property
    def work(self) -> int:
        """Work of an instance in units of its own: the decoded nodes of its rollouts."""
        return self.size * self.rollouts

    def lr_at(self, step: int) -> float:
        """Learning rate of a step of this stage."""
        if not self.lr_end:
            return self.lr
        return float(self.lr * (self.lr_end / self.lr) ** (step / self.steps))


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
        Weight of Sym-NCO's invariance loss.
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
    validation_size, validation_count
        Size and number of the validation instances.
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
    validation_size: int = 100
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
        if any(stage.rollouts * self.copies < 2 for stage in self.stages):
            raise InputError("a shared baseline needs at least two rollouts of an instance.")
        for name in ("invariance", "weight_decay", "muon", "clip_norm", "average"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} is {getattr(self, name)} and must not be negative.")
        if self.average >= 1:
            raise InputError(f"average is {self.average} and must be below 1.")
        for name in ("validation_count", "validate_every", "save_every", "log_every"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)} and must be at least 1.")

    @property
    def total_steps(self) -> int:
        """Number of updates of the whole run."""
        return sum(stage.steps for stage in self.stages)

    @property
    def total_instances(self) -> int:
        """Number of instances that the whole run sees."""
        return sum(stage.steps * stage.batch for stage in self.stages)

    def work_after(self, step: int) -> int:
        """Return the work of all instances after some steps, in the units of `Stage.work`."""
        left = 0
        for stage in self.stages:
            done = min(step, stage.steps)
            left += (stage.steps - done) * stage.batch * stage.work
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


def assign(values: dict[str, Any], assignments: Iterable[str]) -> dict[str, Any]:
    """Set ``name=value`` in plain data, values as in TOML; ``a.0.b=1`` reaches inside."""
    for assignment in assignments:
        name, mark, text = assignment.partition("=")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
        target: Any = values
        *path, last = name.strip().split(".")
        try:
            for part in path:
                target = target[int(part) if isinstance(target, list | tuple) else part]
            if not mark or (last not in target and path[:1] != ["policy"]):
                raise KeyError(name)
            target[last] = value
        except (KeyError, IndexError, ValueError, TypeError):
            raise InputError(f"'{assignment}' does not set a known setting.") from None
    return values


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
