"""EAS-Tab (Hottung et al. 2021): a table of preferred edges, without any gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from metasage.adaptation.method import Method, Strategy
from metasage.adaptation.published import TABLES
from metasage.values import Strength, Temperature

if TYPE_CHECKING:
    from metasage.adaptation.task import Task


@dataclass(frozen=True, kw_only=True)
class EasTab(Method):
    """Sampling from ``p ** exponent * table``, where the table favours the incumbent's edges.

    Parameters
    ----------
    exponent
        Exponent of the policy's probabilities; by default 0.505 (TSP) or 0.539.
    strength
        How much the incumbent's edges are favoured; by default 8.57 (TSP) or
        9.55.
    """

    name = "eas-tab"

    exponent: Temperature | None = None
    strength: Strength | None = None

    def defaults(self, problem: str) -> dict[str, Any]:  # noqa: D102
        exponent, strength = TABLES[problem]
        return {"exponent": exponent, "strength": strength}

    def start(self, task: Task) -> Strategy:  # noqa: D102
        from metasage.adaptation.table import TableAdaptation

        own = self.resolved(task.instance.problem.name)
        assert own.exponent is not None
        assert own.strength is not None
        return TableAdaptation(task, own.exponent, own.strength)
