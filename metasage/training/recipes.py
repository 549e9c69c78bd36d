"""Settings by name: the published ones, and those that made the shipped networks."""

from __future__ import annotations

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
        ``paper`` for the published full-length settings; ``cpu`` for those that
        trained the paper's networks in this package, in an hour or two; ``scale``
        for its own, which know scale.
    method, problem
        What is trained: POMO on TSP and CVRP, Sym-NCO on all four problems;
        networks that know scale by POMO on all.
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

# What the networks of the package have in common.
_OWN: dict[str, Any] = {
    "normalise_advantages": True,
    "weight_decay": 0.0,
    "muon": 0.7,
    "clip_norm": 1.0,
    "average": 0.999,
}

# Scale inside: preferences for near nodes, and the layer that adapts.
_SCALE: dict[str, Any] = {
    "pointer_locality": "outside",
    "glimpse_locality": True,
    "encoder_locality": True,
    "query_skip": True,
    "query_residual": True,
}

# Kicks for each node that bring labels within about half a percent of long searches, and
# as many labels as then are made in a small part of the time.
_LABELS: dict[str, dict[str, Any]] = {
    "tsp": {"kicks": 1.0, "labels": 20_000},
    "cvrp": {"kicks": 10.0, "labels": 10_000},
    "pctsp": {"kicks": 5.0, "labels": 6_000},
    "op": {"kicks": 3.0, "labels": 8_000},
}


def _imitate(
    problem: str, sizes: tuple[int, ...], steps: int, lr: float, lr_end: float = 0.0, **others: Any
) -> Stage:
    """Imitate local search alone, on about 3,200 nodes a step."""
    own = {"reinforce": 0.0, "imitation": 1.0} | _LABELS[problem]
    return Stage(sizes, 3_200 // sizes[0], 20, steps, lr, lr_end, **(own | others))


def _at_100(problem: str) -> tuple[Stage, ...]:
    """Small instances first, then those of the paper."""
    return (
        _imitate(problem, (20,), 300, 1e-3),
        _imitate(problem, (50,), 1_000, 1e-3),
        _imitate(problem, (100,), 7_000, 1e-3, 5e-5, clustered=0.25),
    )


def _own_loss(problem: str, batch: int, rollouts: int) -> Stage:
    """End with the method's own loss, which makes greedy tours better."""
    return Stage(
        (100,),
        batch,
        rollouts,
        2_000,
        5e-5,
        1e-5,
        clustered=0.25,
        imitation=1.0,
        **_LABELS[problem],
    )


def _pomo(problem: str, **others: Any) -> TrainingSettings:
    stages = (*_at_100(problem), _own_loss(problem, 32, 32))
    return TrainingSettings("pomo", problem, stages, **(_OWN | others))


def _symnco(problem: str, *first: Stage, **others: Any) -> TrainingSettings:
    stages = (*first, _own_loss(problem, 16, 32))
    own = {"copies": 2, "invariance": 0.1}
    return TrainingSettings("symnco", problem, stages, **(_OWN | own | others))


# What the last stage of a problem has of its own.
_LAST: dict[str, dict[str, Any]] = {
    "tsp": {
        "sizes": (100, 200, 500, 1000),
        "steps": 1_000,
        "lr": 2e-4,
        "varied": False,
        "reinforce": 0.1,
    }
}


def _both_losses(problem: str) -> Stage:
    """Imitate and follow the policy gradient, whose norm is then about ten times as large."""
    usual: dict[str, Any] = {
        "sizes": (100, 50, 200, 500),
        "batch": 24,
        "rollouts": 24,
        "steps": 3_600,
        "lr": 3e-4,
        "lr_end": 1e-5,
        "clustered": 0.25,
        "varied": True,
        "reinforce": 0.2,
        "imitation": 1.0,
    }
    return Stage(**(usual | _LABELS[problem] | {"labels": 2_000} | _LAST.get(problem, {})))


def _all_sizes(problem: str, **others: Any) -> TrainingSettings:
    """Train a network that knows scale, on instances of all sizes and constants."""
    mixed: dict[str, Any] = {"clustered": 0.25, "varied": problem != "tsp"}
    stages: tuple[Stage, ...] = (
        _imitate(problem, (20,), 300, 1e-3, varied=mixed["varied"]),
        _imitate(problem, (50,), 700, 1e-3, varied=mixed["varied"]),
        _imitate(problem, (100, 50, 200), 4_000, 1e-3, 4e-4, **mixed),
        _imitate(problem, (100, 50, 200, 500), 12_000, 4e-4, 1e-5, **mixed),
        _both_losses(problem),
    )
    free = {} if problem in ("tsp", "cvrp") else {"starts": "free"}
    sizes = {"validation_sizes": (100, 200, 500)}
    return TrainingSettings(
        "pomo", problem, stages, policy=_SCALE | free, **(_OWN | sizes | others)
    )


_CPU = {
    ("pomo", "tsp"): _pomo("tsp"),
    ("pomo", "cvrp"): _pomo("cvrp"),
    ("symnco", "tsp"): _symnco("tsp", start_from="pomo-tsp"),
    ("symnco", "cvrp"): _symnco("cvrp", start_from="pomo-cvrp"),
    ("symnco", "pctsp"): _symnco("pctsp", *_at_100("pctsp"), policy={"starts": "free"}),
    ("symnco", "op"): _symnco("op", *_at_100("op"), policy={"starts": "free"}),
}

_ALL_SIZES = {
    ("pomo", problem): _all_sizes(problem, start_from="" if problem == "tsp" else "scale-tsp")
    for problem in ("tsp", "cvrp", "pctsp", "op")
}

RECIPES: dict[str, dict[tuple[str, str], TrainingSettings]] = {
    "paper": _PAPER,
    "cpu": _CPU,
    "scale": _ALL_SIZES,
}
