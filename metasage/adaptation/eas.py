"""Efficient active search (Hottung et al. 2021): a few parameters instead of all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import torch

from metasage.adaptation.gradient import GradientAdaptation
from metasage.adaptation.method import Method, Strategy
from metasage.adaptation.objective import Objective
from metasage.adaptation.published import EAS_RATES, EMB_RATES, WEIGHT_DECAY
from metasage.adaptation.query import QueryAdaptation
from metasage.adaptation.task import Task
from metasage.errors import InputError
from metasage.rollout.interface import DecoderInputs


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
    learning_rate: float | None = None
    imitation: float | None = None
    weight_decay: float = WEIGHT_DECAY

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the method."""
        return f"eas-{self.variant}"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant not in ("lay", "emb") or self.place not in ("before", "after"):
            raise InputError(f"EAS '{self.variant}' {self.place} the combination is not known.")

    def defaults(self, problem: str) -> dict[str, Any]:  # noqa: D102
        rate, imitation = (EAS_RATES if self.variant == "lay" else EMB_RATES)[problem]
        return {"learning_rate": rate, "imitation": imitation}

    def start(self, task: Task) -> Strategy:  # noqa: D102
        own = self.resolved(task.instance.problem.name)
        assert own.learning_rate is not None
        assert own.imitation is not None
        objective = Objective(own.learning_rate, own.imitation, own.weight_decay)
        if self.variant == "lay":
            return QueryAdaptation(task, objective, self.place)
        return _PointerAdaptation(task, objective)


class _PointerAdaptation(GradientAdaptation):
    """Adapts the keys of the pointer, and leaves all else as it is."""

    def make_parameters(self) -> list[torch.Tensor]:
        return [self.task.inputs.pointers.clone()]

    def inputs(self) -> DecoderInputs:
        return replace(self.task.inputs, pointers=self.parameters[0])
