"""Settings by name: the published ones, and those that made the shipped networks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from metasage.errors import InputError
from metasage.training.settings import METHODS, Method, TrainingSettings
from metasage.training.stage import Stage

# Kool's attention model, on which Sym-NCO solves PCTSP and OP.
_ATTENTION_MODEL: dict[str, Any] = {
    "norm": "batch",
    "encoder_combine_bias": False,
    "combine_bias": False,
    "projected_pointer": True,
    "starts": "free",
}


def recipe(name: str, method: str, problem: str) -> TrainingSettings:
    """Return the settings of a recipe.

    Parameters
    ----------
    name
        ``paper`` for the published full-length settings, ``cpu`` for those that
        trained the shipped networks.
    method, problem
        What is trained: POMO on TSP and CVRP, Sym-NCO on all four problems.
    """
    if name not in RECIPES:
        raise InputError(f"recipe '{name}' is not one of {', '.join(RECIPES)}.")
    if method not in METHODS:
        raise InputError(f"method '{method}' is not one of {', '.join(METHODS)}.")
    known: dict[tuple[str, str], TrainingSettings] = RECIPES[name]
    if (method, problem) not in known:
        pairs = ", ".join(" ".join(pair) for pair in known)
        raise InputError(f"there is no recipe for {method} on {problem}, only for {pairs}.")
    return known[method, problem]


def _epochs(count: int, instances: int, batch: int) -> int:
    return count * (instances // batch)


def _published(
    method: Method, problem: str, stages: list[Stage], **others: Any
) -> TrainingSettings:
    return TrainingSettings(method, problem, tuple(stages), **others)


def _tsp(epochs: int, last: int) -> list[Stage]:
    """Epochs of 100,000 instances, the last ones at a tenth of the learning rate."""
    return [
        Stage((100,), 64, 100, _epochs(epochs, 100_000, 64), 1e-4),
        Stage((100,), 64, 100, _epochs(last, 100_000, 64), 1e-5),
    ]


def _cvrp(*tails: tuple[int, float]) -> list[Stage]:
    """8,000 epochs of 10,000 instances, then tails at smaller learning rates."""
    parts = [(8000, 1e-4), *tails]
    return [Stage((100,), 64, 100, _epochs(n, 10_000, 64), lr) for n, lr in parts]


def _attention_model(problem: str) -> TrainingSettings:
    """100 epochs of 1.28 million instances, ten copies and one rollout of each."""
    stage = Stage((100,), 512, 1, _epochs(100, 1_280_000, 512), 1e-4)
    return _published(
        "symnco",
        problem,
        [stage],
        copies=10,
        invariance=0.1,
        weight_decay=0.0,
        clip_norm=1.0,
        policy=_ATTENTION_MODEL,
    )


_PAPER = {
    ("pomo", "tsp"): _published("pomo", "tsp", _tsp(3000, 100)),
    ("pomo", "cvrp"): _published("pomo", "cvrp", _cvrp((50, 1e-5), (50, 1e-6))),
    ("symnco", "tsp"): _published("symnco", "tsp", _tsp(2000, 10), copies=2, invariance=0.1),
    ("symnco", "cvrp"): _published("symnco", "cvrp", _cvrp(), copies=4),
    ("symnco", "pctsp"): _attention_model("pctsp"),
    ("symnco", "op"): _attention_model("op"),
}

_CPU_BASE = TrainingSettings(
    "pomo",
    "tsp",
    (
        Stage((20,), 128, 20, 1_000, 5e-4),
        Stage((50,), 64, 20, 3_000, 5e-4, 3e-4),
        Stage((100,), 32, 32, 6_000, 3e-4, 1e-5, clustered=0.25),
    ),
    normalise_advantages=True,
    muon=0.7,
    clip_norm=1.0,
    average=0.999,
)

_CPU_SYMNCO = replace(
    _CPU_BASE,
    method="symnco",
    stages=(Stage((100,), 16, 32, 2_000, 2e-4, 1e-5, clustered=0.25),),
    copies=2,
    invariance=0.1,
)

_CPU_FREE = replace(
    _CPU_SYMNCO,
    stages=(
        Stage((20,), 64, 16, 500, 5e-4),
        Stage((50,), 32, 16, 2_000, 5e-4, 3e-4),
        Stage((100,), 16, 24, 2_500, 3e-4, 1e-5, clustered=0.25),
    ),
    policy={"starts": "free"},
    start_from="pomo-cvrp",
)

_CPU = {
    ("pomo", "tsp"): _CPU_BASE,
    ("pomo", "cvrp"): replace(
        _CPU_BASE,
        problem="cvrp",
        stages=(*_CPU_BASE.stages[:2], replace(_CPU_BASE.stages[2], steps=3_000)),
        start_from="pomo-tsp",
    ),
    ("symnco", "tsp"): replace(_CPU_SYMNCO, start_from="pomo-tsp"),
    ("symnco", "cvrp"): replace(_CPU_SYMNCO, problem="cvrp", start_from="pomo-cvrp"),
    ("symnco", "pctsp"): replace(_CPU_FREE, problem="pctsp"),
    ("symnco", "op"): replace(_CPU_FREE, problem="op"),
}

RECIPES: dict[str, dict[tuple[str, str], TrainingSettings]] = {"paper": _PAPER, "cpu": _CPU}
