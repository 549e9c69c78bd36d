"""Any value for any setting: one sentence, or a run that ends."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from random import Random
from typing import Any

import metasage
from fuzz.attack import Attack, allowed
from fuzz.networks import make_network
from fuzz.odd import odd, odd_text
from metasage.adaptation.registry import METHODS, make_method
from metasage.training.settings import TrainingSettings
from metasage.training.sml.settings import SmlSettings
from metasage.training.sml.train import train_sml
from metasage.training.stage import Stage
from metasage.training.train import train

# Of training runs, which take a second each, and of which most are refused at once.
_TRAINED = 0.05

STAGE = Stage((6,), 2, 2, 2, 1e-3, imitation=1.0, labels=2, kicks=0.5)
TRAINING = TrainingSettings(
    "pomo", "tsp", (STAGE,), policy={"width": 64, "layers": 1}, validation_sizes=(6,),
    validation_count=2,
)  # fmt: skip
META = SmlSettings(
    sizes=(6,), labels=2, teacher_iterations=1, teacher_rollouts=2, rollouts=2, batch=1, steps=2,
    validation=1, validation_sizes=(8,),
)  # fmt: skip

# More of these would only take longer.
_LONG = {"steps", "labels", "teacher_iterations", "teacher_rollouts", "rollouts", "batch", "sizes",
         "validation", "validation_sizes", "validation_count", "copies", "kicks", "forms",
         "iterations", "expansion", "beam", "augment", "stages"}  # fmt: skip


def _is_long(name: str, value: Any) -> bool:
    return name in _LONG and not isinstance(value, bool) and value not in (0, 1, 2)


def _method(random: Random, folder: Path) -> None:
    problem = random.choice(["tsp", "cvrp", "pctsp", "op"])
    name = random.choice(list(METHODS))
    usual = METHODS[name](iterations=3, rollouts=4)
    given = {
        item.name: odd(random) for item in random.sample(fields(usual), random.choice([1, 1, 2]))
    }
    settings = {n: v for n, v in given.items() if n not in ("iterations", "rollouts")}
    with allowed():
        if random.random() < 0.5:
            method = replace(usual, **given)
        else:
            method = make_method(name, settings=settings, iterations=3, rollouts=4)
        instance = metasage.generate(problem, 7, 1, random.randrange(100))[0]
        # Large numbers of iterations or rollouts are fine, and end with the time.
        result = metasage.solve(
            instance, method, model=make_network(random, problem), time_limit=0.4,
            engine=random.choice(["native", "torch"]), improve="none", threads=1,
        )  # fmt: skip
        assert result.feasible


def _training(random: Random, folder: Path) -> None:
    target: Any = random.choice([TRAINING, STAGE, META])
    name, value = random.choice(fields(target)).name, odd(random)
    with allowed():
        if random.random() < 0.3:  # as the command line says it
            place = f"stages.0.{name}" if target is STAGE else name
            whole = TRAINING if target is STAGE else target
            made = whole.overridden([f"{place}={odd_text(random)}"])
            changed: Any = made.stages[0] if isinstance(made, TrainingSettings) else made
            value = getattr(changed, name, None) if target is not TRAINING else getattr(made, name)
        else:
            changed = replace(target, **{name: value})
            made = replace(TRAINING, stages=(changed,)) if target is STAGE else changed
        if _is_long(name, value) or random.random() > _TRAINED:
            return
        if isinstance(made, TrainingSettings):
            train(folder / "run", made, time_limit=3.0)
        else:
            network = folder / "network.safetensors"
            make_network(random, "tsp").save(network)
            train_sml(folder / "run", str(network), made)


def attempt(random: Random, folder: Path) -> None:
    """Give a method, a training or a meta-training odd settings, and run it."""
    random.choice([_method, _method, _training])(random, folder)


SETTINGS = Attack("settings", attempt, quick=150)
