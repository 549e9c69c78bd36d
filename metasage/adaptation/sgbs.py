"""Simulation-guided beam search (Choo et al. 2022), alone and with EAS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from metasage.adaptation.method import Method, Strategy
from metasage.adaptation.published import BEAMS, SGBS_RATES
from metasage.values import Amount, Count, LearningRate, Weight

if TYPE_CHECKING:
    from metasage.adaptation.task import Task


@dataclass(frozen=True, kw_only=True)
class Sgbs(Method):
    """Simulation-guided beam search.

    Parameters
    ----------
    beam
        Partial solutions that are kept; by default 10 (TSP) or 4.
    expansion
        Children of each that are tried besides the greedy one; by default 9
        (TSP) or 3.
    eas
        Whether an iteration of EAS goes before each pass of the search.
    learning_rate, imitation
        Settings of that iteration; by default 8.15e-3 and 6e-3 (TSP), 4.1e-3 and
        5e-3 (CVRP), 1e-3 and 5e-3 (PCTSP, OP).
    """

    beam: Count | None = None
    expansion: Amount | None = None
    eas: bool = False
    learning_rate: LearningRate | None = None
    imitation: Weight | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the method."""
        return "sgbs-eas" if self.eas else "sgbs"

    @property
    def repeats(self) -> bool:  # type: ignore[override]
        """Whether another pass may find something new."""
        return self.eas

    def default_iterations(self, problem: str) -> int:  # noqa: D102
        return super().default_iterations(problem) if self.eas else 1

    def defaults(self, problem: str) -> dict[str, Any]:  # noqa: D102
        beam, expansion = map(int, BEAMS[problem])
        found: dict[str, Any] = {"beam": beam, "expansion": expansion}
        if self.eas:
            found["learning_rate"], found["imitation"] = SGBS_RATES[problem]
        return found

    def start(self, task: Task) -> Strategy:  # noqa: D102
        from metasage.adaptation.beam import BeamAlone, BeamSearch, BeamWithEas
        from metasage.adaptation.update import Update

        own = self.resolved(task.instance.problem.name)
        assert own.beam is not None
        assert own.expansion is not None
        search = BeamSearch(task, own.beam, own.expansion)
        if not self.eas:
            return BeamAlone(search)
        assert own.learning_rate is not None
        assert own.imitation is not None
        return BeamWithEas(search, Update(own.learning_rate, own.imitation))
