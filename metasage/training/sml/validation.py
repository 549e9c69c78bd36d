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


def zero_shot(
    model: Model, sml: Sml | None, settings: SmlSettings, threads: int = 0
) -> dict[str, float] | None:
    """Mean objective at each validation size, by the checker; None if interrupted.

    Parameters
    ----------
    model
        The network.
    sml
        The meta-learner; None for the network alone.
    settings
        Sizes and number of instances.
    threads
        Threads of the engine; 0 for all cores.
    """
    means = {}
    for size in settings.validation_sizes:
        found = []
        for instance in generate(model.config.problem, size, settings.validation, SEED):
            chosen = "none" if sml is None else sml
            result = solve(instance, Greedy(), model=model, sml=chosen, threads=threads)
            if result.interrupted:
                return None
            found.append(result.objective)
        means[str(size)] = sum(found) / len(found)
    return means
