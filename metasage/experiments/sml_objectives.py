"""Which of the two objectives makes the meta-learner good."""

from __future__ import annotations

from dataclasses import replace

from metasage.adaptation.greedy import Greedy
from metasage.experiments.base import PAPER, Cell, Experiment, Profile, Table
from metasage.experiments.bench import Bench
from metasage.policies.sml import Sml
from metasage.policies.sml_files import fingerprint, load_sml
from metasage.training.run import SETTINGS
from metasage.training.sml.settings import SmlSettings, sml_recipe
from metasage.training.sml.train import LABELS, SML, train_sml

# Weights of J_distil and J_zero.
_OBJECTIVES = {"J_distil": (1.0, 0.0), "J_zero": (0.0, 1.0), "both": (1.0, 1.0)}


class SmlObjectives(Experiment):
    """Meta-learners trained with one objective each and with both, on the same labels."""

    name = "sml-objectives"
    shows = "ablation of J_distil and J_zero"
    source = "figure 8"
    cpu = Profile({200: 8, 500: 4}, problems=("tsp",))
    paper = replace(PAPER, problems=("tsp", "cvrp"), recipe="paper")

    def run(self, bench: Bench, profile: Profile) -> Table:  # noqa: D102
        recipe = sml_recipe(profile.recipe)
        rows: list[list[Cell]] = []
        for problem in profile.problems:
            learners = {name: _trained(bench, problem, name, recipe) for name in _OBJECTIVES}
            for size, count in profile.instances.items():
                means = [bench.mean("none", problem, size, count, method=Greedy())]
                means += [
                    bench.mean(name, problem, size, count, method=Greedy(), sml=learner)
                    for name, learner in learners.items()
                ]
                rows.append([problem, size, count, *means])
        title = "Zero-shot cost by the objectives of meta-training"
        return Table(title, ["problem", "N", "instances", "none", *_OBJECTIVES], rows)


def _trained(bench: Bench, problem: str, name: str, recipe: SmlSettings) -> Sml:
    """Train a meta-learner with some of the objectives, or load it."""
    model = bench.model(problem)
    base = f"{problem}-{fingerprint(model.policy)}"
    folder = bench.folder / f"{base}-{name}"
    if not (folder / SML).exists():
        distil, zero = _OBJECTIVES[name]
        settings = replace(recipe, distil=distil, zero=zero, validation_sizes=())
        resume = (folder / SETTINGS).exists()
        run = train_sml(
            folder,
            model.name,
            None if resume else settings,
            resume=resume,
            labels=bench.folder / f"{base}-{LABELS}",
            listener=bench.listen,
        )
        if not run.is_finished:
            raise KeyboardInterrupt
    return load_sml(folder / SML)
