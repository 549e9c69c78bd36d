"""Simulation-guided beam search (Choo et al. 2022), alone and with EAS."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from metasage.adaptation.method import Method, Strategy
from metasage.adaptation.objective import Objective
from metasage.adaptation.published import BEAMS, SGBS_RATES
from metasage.adaptation.query import QueryAdaptation
from metasage.adaptation.result import Incumbent
from metasage.adaptation.task import Task
from metasage.errors import InputError
from metasage.rollout.interface import DeadlineReached, Decoding, Request, Rollouts
from metasage.rollout.torch_engine import StepDecoder


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

    beam: int | None = None
    expansion: int | None = None
    eas: bool = False
    learning_rate: float | None = None
    imitation: float | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the method."""
        return "sgbs-eas" if self.eas else "sgbs"

    @property
    def repeats(self) -> bool:  # type: ignore[override]
        """Whether another pass may find something new."""
        return self.eas

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beam is not None and self.beam < 1:
            raise InputError(f"the beam is {self.beam} and must be at least 1.")
        if self.expansion is not None and self.expansion < 0:
            raise InputError(f"the expansion is {self.expansion} and must not be negative.")

    def default_iterations(self, problem: str) -> int:  # noqa: D102
        return super().default_iterations(problem) if self.eas else 1

    def defaults(self, problem: str) -> dict[str, Any]:  # noqa: D102
        beam, expansion = map(int, BEAMS[problem])
        found: dict[str, Any] = {"beam": beam, "expansion": expansion}
        if self.eas:
            found["learning_rate"], found["imitation"] = SGBS_RATES[problem]
        return found

    def start(self, task: Task) -> Strategy:  # noqa: D102
        own = self.resolved(task.instance.problem.name)
        assert own.beam is not None
        assert own.expansion is not None
        search = _BeamSearch(task, own.beam, own.expansion)
        if not self.eas:
            return _SgbsAlone(search)
        assert own.learning_rate is not None
        assert own.imitation is not None
        return _SgbsWithEas(search, Objective(own.learning_rate, own.imitation))


class _BeamSearch:
    """One pass: grow partial solutions, judged by where the greedy policy takes them."""

    def __init__(self, task: Task, beam: int, expansion: int) -> None:
        self.task, self.beam, self.expansion = task, beam, expansion

    def run(self, decoding: Decoding, iteration: int) -> Rollouts:
        """Search from the best greedy rollouts; what is kept is always complete."""
        greedy = replace(decoding, greedy=True)
        kept = _best(self.task.rollout(greedy, iteration), self.beam)
        if self.expansion == 0:
            return kept
        decoder = StepDecoder(self.task.batch, self.task.inputs, greedy, kept.cost.shape[1])
        try:
            for depth in range(kept.actions.shape[2] + 1):
                if depth >= kept.actions.shape[2] or bool(decoder.rules.done.all()):
                    break
                # The first step is a start, and all starts were tried already.
                if depth > 0:
                    kept = self._grow(kept, decoder, greedy, depth)
                decoder.step(kept.actions[..., depth])
        except DeadlineReached:
            pass
        return kept

    def _grow(self, kept: Rollouts, decoder: StepDecoder, greedy: Decoding, depth: int) -> Rollouts:
        """Simulate other children of the kept nodes, and keep the best of all."""
        rows, beams, _ = kept.actions.shape
        log_p = decoder.log_probabilities()
        continued = kept.actions[..., depth : depth + 1]
        log_p = log_p.scatter(-1, continued, -torch.inf)
        log_p = log_p.masked_fill(decoder.rules.done.unsqueeze(-1), -torch.inf)
        count = min(self.expansion, log_p.shape[-1])
        chances, children = log_p.topk(count, dim=-1)
        # Where there are fewer children, the greedy one is simulated again.
        children = children.where(torch.isfinite(chances), continued)
        prefixes = kept.actions[..., :depth].unsqueeze(2).expand(-1, -1, count, -1)
        prefixes = torch.cat([prefixes, children.unsqueeze(-1)], dim=-1).flatten(1, 2)
        request = Request(
            beams * count,
            torch.zeros(rows, dtype=torch.long),
            starts=prefixes,
            deadline=self.task.deadline,
        )
        found = self.task.engine.rollout(self.task.batch, self.task.inputs, greedy, request)
        # Simulating the greedy child again must not fill the beam with copies.
        again = ~torch.isfinite(chances).flatten(1)
        found = replace(found, cost=found.cost.masked_fill(again, torch.inf))
        both = Rollouts.joined([kept, found])
        order = both.cost.argsort(dim=1, stable=True)[:, :beams]
        parents = torch.where(order < beams, order, (order - beams) // count)
        decoder.select(parents)
        return _select(both, order)


class _SgbsAlone(Strategy):
    def __init__(self, search: _BeamSearch) -> None:
        self.search = search

    def rollout(self, iteration: int, progress: float) -> Rollouts:
        return self.search.run(self.search.task.decoding, iteration)


class _SgbsWithEas(Strategy):
    """An iteration of EAS, then a pass of the beam search with the adapted policy."""

    def __init__(self, search: _BeamSearch, objective: Objective) -> None:
        self.search = search
        self.eas = QueryAdaptation(search.task, objective, "after")

    def rollout(self, iteration: int, progress: float) -> Rollouts:
        self.sampled = self.eas.rollout(iteration, progress)
        try:
            return Rollouts.joined([self.sampled, self.search.run(self.eas.used, iteration)])
        except DeadlineReached:
            return self.sampled

    def learn(self, rollouts: Rollouts, incumbent: Incumbent) -> None:
        self.eas.learn(self.sampled, incumbent)


def _best(rollouts: Rollouts, count: int) -> Rollouts:
    """Return the cheapest rollouts of each copy."""
    return _select(rollouts, rollouts.cost.argsort(dim=1, stable=True)[:, :count])


def _select(rollouts: Rollouts, order: Tensor) -> Rollouts:
    def pick(values: Tensor) -> Tensor:
        return values.gather(1, order)

    actions = rollouts.actions
    chosen = actions.gather(1, order.unsqueeze(-1).expand(-1, -1, actions.shape[2]))
    return Rollouts(
        chosen,
        pick(rollouts.steps),
        pick(rollouts.log_likelihood),
        pick(rollouts.cost),
        rollouts.first_scored,
    )
