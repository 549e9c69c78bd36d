"""Efficient active search (Hottung et al. 2021): a few parameters instead of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from metasage.adaptation.method import Method, Strategy
from metasage.adaptation.published import EAS_RATES, EMB_RATES, WEIGHT_DECAY
from metasage.values import LearningRate, Weight

if TYPE_CHECKING:
    from metasage.adaptation.task import Task


@dataclass(frozen=True, kw_only=True)
class Eas(Method):
    """Efficient active search.

    Parameters
    ----------
    variant
        ``lay``: a residual layer on the query; ``emb``: the keys of the pointer.
    place
        Where the layer sits: ``before`` the heads are combined, as in the code
        of EAS, or ``after``, as in that of SGBS and Meta-SAGE.
    learning_rate
        Step size; by default 3.2e-3 (TSP), 4.1e-3 (CVRP) and 1e-3 (PCTSP, OP)
        for the layer, and 4.9e-3 for the keys of the CVRP.
    imitation
        Weight lambda of self-imitation; by default 5e-3, and for the keys 5.8e-3
        (TSP) and 6.3e-3 (CVRP).
    weight_decay
        Factor of the parameters that is added to their gradient.
    """

    variant: Literal["lay", "emb"] = "lay"
    place: Literal["before", "after"] = "before"
    learning_rate: LearningRate | None = None
    imitation: Weight | None = None
    weight_decay: Weight = WEIGHT_DECAY

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the method."""
        return f"eas-{self.variant}"

    def defaults(self, problem: str) -> dict[str, Any]:  # noqa: D102
        rate, imitation = (EAS_RATES if self.variant == "lay" else EMB_RATES)[problem]
        return {"learning_rate": rate, "imitation": imitation}

    def start(self, task: Task) -> Strategy:  # noqa: D102
        from metasage.adaptation.gradient import GradientAdaptation, PointerKeys
        from metasage.adaptation.query import QueryAdaptation
        from metasage.adaptation.update import Update

        own = self.resolved(task.instance.problem.name)
        assert own.learning_rate is not None
        assert own.imitation is not None
        update = Update(own.learning_rate, own.imitation, own.weight_decay)
        if self.variant == "lay":
            return QueryAdaptation(task, update, place=self.place)
        return GradientAdaptation(task, update, PointerKeys(task))
