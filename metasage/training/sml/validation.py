"""Zero-shot quality: greedy rollouts from all starts, without adaptation."""

from __future__ import annotations

from metasage.adaptation.greedy import Greedy
from metasage.policies.model import Model
from metasage.policies.sml import Sml
from metasage.problems.sets import generate
from metasage.runtime.interrupts import Interrupted
from metasage.solving.names import EngineName
from metasage.solving.solve import solve
from metasage.training.sml.settings import SmlSettings

# Of the instances that a meta-learner is judged by; labels have other seeds.
SEED = 54321


def zero_shot(
    model: Model,
    sml: Sml | None,
    settings: SmlSettings,
    engine: EngineName = "auto",
    threads: int = 0,
) -> dict[str, float]:
    """Mean objective at each validation size, by the checker.

    Parameters
    ----------
    model
        The network.
    sml
        The meta-learner; None for the network alone.
    settings
        Sizes and number of instances.
    engine, threads
        Engine of the rollouts and its threads; 0 for all cores.

    Raises
    ------
    Interrupted
        If the user ended it.
    """
    means = {}
    for size in settings.validation_sizes:
        found = []
        for instance in generate(model.config.problem, size, settings.validation, SEED):
            chosen = "none" if sml is None else sml
            result = solve(
                instance,
                Greedy(),
                model=model,
                sml=chosen,
                improve="none",
                engine=engine,
                threads=threads,
            )
            if result.interrupted:
                raise Interrupted
            found.append(result.objective)
        means[str(size)] = sum(found) / len(found)
    return means
