"""The passes of simulation-guided beam search."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from metasage.adaptation.method import Strategy
from metasage.adaptation.query import QueryAdaptation
from metasage.adaptation.task import Task
from metasage.adaptation.update import Update
from metasage.problems import Solution
from metasage.rollout.interface import DeadlineReached, Decoding, Request, Rollouts
from metasage.rollout.torch_engine import StepDecoder


class BeamSearch:
    """One pass: grow partial solutions, judged by where the greedy policy takes them.

    Parameters
    ----------
    task
        What is solved.
    beam
        Partial solutions that are kept.
    expansion
        Children of each that are tried besides the greedy one.
    """

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
            patience=self.task.patience,
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


class BeamAlone(Strategy):
    """One pass of the beam search.

    Parameters
    ----------
    search
        The pass.
    """

    def __init__(self, search: BeamSearch) -> None:
        self.search = search

    def rollout(self, iteration: int, progress: float) -> Rollouts:  # noqa: D102
        return self.search.run(self.search.task.decoding, iteration)


class BeamWithEas(Strategy):
    """An iteration of EAS, then a pass of the beam search with the adapted policy.

    Parameters
    ----------
    search
        The pass.
    update
        Settings of the iteration.
    """

    def __init__(self, search: BeamSearch, update: Update) -> None:
        self.search = search
        self.eas = QueryAdaptation(search.task, update)

    def rollout(self, iteration: int, progress: float) -> Rollouts:  # noqa: D102
        self.sampled = self.eas.rollout(iteration, progress)
        try:
            return Rollouts.joined([self.sampled, self.search.run(self.eas.used, iteration)])
        except DeadlineReached:
            return self.sampled

    def learn(self, rollouts: Rollouts, best: Solution | None) -> None:  # noqa: D102
        self.eas.learn(self.sampled, best)


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
