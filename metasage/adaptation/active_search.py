"""Active search (Bello et al. 2017): all weights adapt to the instance."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch

from metasage.adaptation.gradient import GradientAdaptation
from metasage.adaptation.method import Method, Strategy
from metasage.adaptation.objective import Objective
from metasage.adaptation.published import AS_RATES, WEIGHT_DECAY
from metasage.adaptation.task import Task, scaled_embedding
from metasage.rollout.interface import DecoderInputs


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

    learning_rate: float | None = None
    weight_decay: float = WEIGHT_DECAY

    def defaults(self, problem: str) -> dict[str, Any]:  # noqa: D102
        return {"learning_rate": AS_RATES[problem][0]}

    def start(self, task: Task) -> Strategy:  # noqa: D102
        own = self.resolved(task.instance.problem.name)
        assert own.learning_rate is not None
        return _WeightAdaptation(task, Objective(own.learning_rate, 0.0, own.weight_decay))


class _WeightAdaptation(GradientAdaptation):
    """Adapts a copy of the policy, so that every instance starts from the same weights."""

    def make_parameters(self) -> list[torch.Tensor]:
        self.policy = copy.deepcopy(self.task.policy)
        return list(self.policy.parameters())

    def inputs(self) -> DecoderInputs:
        h = scaled_embedding(self.policy, self.task.sml, self.task.batch)
        found: DecoderInputs = self.policy.decoder(h)
        return found
