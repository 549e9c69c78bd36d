"""The paper's tables and figures: one file each, found by name."""

from __future__ import annotations

from metasage.errors import InputError
from metasage.experiments.base import Experiment
from metasage.experiments.components import Components
from metasage.experiments.curves import Curves
from metasage.experiments.cvrplib import Cvrplib
from metasage.experiments.embedding_distance import EmbeddingDistance
from metasage.experiments.main import Main
from metasage.experiments.scale_matching import ScaleMatching
from metasage.experiments.sml_gain import SmlGain
from metasage.experiments.sml_objectives import SmlObjectives
from metasage.experiments.zero_shot import ZeroShot

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Main(),
        ZeroShot(),
        SmlGain(),
        EmbeddingDistance(),
        ScaleMatching(),
        SmlObjectives(),
        Components(),
        Curves(),
        Cvrplib(),
    )
}


def get_experiment(name: str) -> Experiment:
    """Return an experiment by name."""
    if name not in EXPERIMENTS:
        raise InputError(f"experiment '{name}' is not one of {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]
