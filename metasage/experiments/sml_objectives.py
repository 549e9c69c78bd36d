"""Which of the two objectives makes the meta-learner good."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

from metasage.adaptation.greedy import Greedy
from metasage.experiments.base import PAPER, Cell, Experiment, Profile, Table, change
from metasage.experiments.bench import Bench
from metasage.policies.sml import Sml
from metasage.policies.sml_files import fingerprint, load_sml
from metasage.runtime.interrupts import Interrupted
from metasage.training.run import SETTINGS
from metasage.training.sml.labels import origin
from metasage.training.sml.run import LABELS, SML
from metasage.training.sml.settings import SmlSettings, sml_recipe
from metasage.training.sml.train import train_sml

# What is left of the recipe's weights of J_distil and of J_zero, which guided tours and the
# simulation under a bias belong to.
_OBJECTIVES: dict[str, dict[str, Any]] = {
    "J_distil": {"zero": 0.0, "biased": 0.0, "guided": 0.0, "distil": 1.0},
    "J_zero": {"distil": 0.0},
    "both": {},
}

# Of each training on the small profile.
_STEPS = 80


class SmlObjectives(Experiment):
    """Meta-learners trained with one objective each and with both, on the same labels."""

    name = "sml-objectives"
    shows = "ablation of J_distil and J_zero"
    source = "figure 9"
    cpu = Profile({200: 8, 500: 4}, iterations=20, rollouts=100, problems=("tsp",))
    paper = replace(PAPER, problems=("tsp", "cvrp"), recipe="paper")

    def run(self, bench: Bench, profile: Profile) -> Table:  # noqa: D102
        rows: list[list[Cell]] = []
        for problem in profile.problems:
            recipe = sml_recipe(profile.recipe, problem)
            steps = min(_STEPS, recipe.steps) if profile.recipe == "cpu" else recipe.steps
            recipe = replace(recipe, steps=steps)
            learners: dict[str, Sml | None] = {"none": None}
            learners |= {n: _trained(bench, problem, n, recipe) for n in _OBJECTIVES}
            for method in (Greedy(), profile.sage(problem)):
                for size, count in profile.instances.items():
                    means = [
                        bench.mean(name, problem, size, count, method=method, sml=learner)
                        for name, learner in learners.items()
                    ]
                    iterations = 0 if isinstance(method, Greedy) else profile.iterations_of(problem)
                    rows.append([problem, size, count, iterations, *means])
        title = "Cost by the objectives of meta-training"
        columns = ["problem", "N", "instances", "iterations", "none", *_OBJECTIVES]
        note = (
            f"Recipe {profile.recipe}, {steps} steps each; its guided tours and its simulation "
            f"under a bias, if any, count as J_zero. SAGE's preset {profile.preset}."
        )
        return Table(title, columns, rows, [note], draw=lambda figure: _draw(figure, rows))


def _trained(bench: Bench, problem: str, name: str, recipe: SmlSettings) -> Sml:
    """Train a meta-learner with some of the objectives, or load it."""
    model = bench.model(problem)
    settings = replace(recipe, validation_sizes=(), **_OBJECTIVES[name])
    base = f"{problem}-{fingerprint(model.policy)}"
    folder = bench.folder / f"{base}-{name}-{_short(settings.to_dict())}"
    if not (folder / SML).exists():
        resume = (folder / SETTINGS).exists()
        run = train_sml(
            folder,
            model.name,
            None if resume else settings,
            resume=resume,
            threads=bench.threads,
            labels=bench.folder / f"{base}-{LABELS}-{_short(origin(model, settings))}",
            listener=bench.listen,
        )
        if not run.is_finished:
            raise Interrupted
    return load_sml(folder / SML)


def _short(value: Any) -> str:
    """Name something by its contents."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:8]


def _draw(figure: Any, rows: list[list[Cell]]) -> None:
    """Draw by how many percent each meta-learner is better than none."""
    figure.set_size_inches(8, 4)
    axes = figure.subplots()
    for offset, name in enumerate(_OBJECTIVES):
        gains = [change(row[4], row[5 + offset], row[0]) for row in rows]  # type: ignore[arg-type]
        axes.bar([i + 0.25 * offset for i in range(len(rows))], gains, width=0.22, label=name)
    names = [f"{row[0]} {row[1]}\nK={row[3]}" for row in rows]
    axes.set_xticks([i + 0.25 for i in range(len(rows))], names)
    axes.set_ylabel("better than without, %")
    axes.legend()
