"""Zero-shot quality: greedy rollouts from all starts, without adaptation."""

from __future__ import annotations

from metasage.adaptation.greedy import Greedy
from metasage.adaptation.solve import solve
from metasage.policies.model import Model
from metasage.policies.sml import Sml
from metasage.problems.sets import generate
from metasage.training.sml.settings import SmlSettings

# Of the instances that a meta-learner is judged by; labels have other seeds.
SEED = 54321


def zero_shot(model: Model, sml: Sml | None, settings: SmlSettings) -> dict[str, float]:
    """Mean objective at each validation size, by the checker.

    Parameters
    ----------
    model
        The network.
    sml
        The meta-learner; None for the network alone.
    settings
        Sizes and number of instances.
    """
    return {
        str(size): _mean(model, sml, size, settings.validation)
        for size in settings.validation_sizes
    }


def _mean(model: Model, sml: Sml | None, size: int, count: int) -> float:
    instances = generate(model.config.problem, size, count, SEED)
    chosen = "none" if sml is None else sml
    found = [solve(i, Greedy(), model=model, sml=chosen).objective for i in instances]
    return sum(found) / len(found)
