"""Active search (Bello et al. 2017): all weights adapt to the instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from metasage.adaptation.method import Method, Strategy
from metasage.adaptation.published import AS_RATES, WEIGHT_DECAY
from metasage.values import LearningRate, Weight

if TYPE_CHECKING:
    from metasage.adaptation.task import Task


@dataclass(frozen=True, kw_only=True)
class ActiveSearch(Method):
    """Active search; the policy itself is left as it was.

    Parameters
    ----------
    learning_rate
        Step size; by default 2.6e-4, and 2.6e-5 for the CVRP.
    weight_decay
        Factor of the weights that is added to their gradient.
    """

    name = "as"

    learning_rate: LearningRate | None = None
    weight_decay: Weight = WEIGHT_DECAY

    def defaults(self, problem: str) -> dict[str, Any]:  # noqa: D102
        return {"learning_rate": AS_RATES[problem][0]}

    def start(self, task: Task) -> Strategy:  # noqa: D102
        from metasage.adaptation.gradient import GradientAdaptation, PolicyWeights
        from metasage.adaptation.update import Update

        own = self.resolved(task.instance.problem.name)
        assert own.learning_rate is not None
        update = Update(own.learning_rate, imitation=0.0, weight_decay=own.weight_decay)
        return GradientAdaptation(task, update, PolicyWeights(task))
