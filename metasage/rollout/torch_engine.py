"""The readable reference: rollouts in plain torch, on any device."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from metasage.errors import NotFinite
from metasage.problems.batch import Batch
from metasage.rollout.interface import (
    DeadlineReached,
    DecoderInputs,
    Decoding,
    EdgeBonus,
    Engine,
    Request,
    Rollouts,
)
from metasage.rollout.locality import measures, preference
from metasage.rollout.random import uniforms
from metasage.runtime.interrupts import ENDLESS, Patience


class TorchEngine(Engine):
    """Rollouts in plain torch: slow at large N, but short and differentiable."""

    name = "torch"

    @torch.no_grad()
    def rollout(  # noqa: D102
        self, batch: Batch, inputs: DecoderInputs, decoding: Decoding, request: Request
    ) -> Rollouts:
        forced = request.forced
        num_forced = 0 if forced is None else forced.shape[1]
        decoder = StepDecoder(batch, inputs, decoding, request.rollouts + num_forced)
        numbers = request.offset + torch.arange(request.rollouts, device=batch.device)
        first_scored = request.starts is None
        num_given = 0 if request.starts is None else request.starts.shape[2]
        actions: list[Tensor] = []
        log_likelihood = batch.coords.new_zeros(decoder.shape, dtype=torch.float64)
        steps = torch.zeros(decoder.shape, dtype=torch.long, device=batch.device)
        while not decoder.rules.done.all():
            _watch(request.patience)
            step = len(actions)
            given = None if forced is None else _given(forced, request.rollouts, step)
            log_p = decoder.log_probabilities(given)
            if request.starts is not None and step < num_given:
                nodes = request.starts[..., step]
            elif decoding.greedy:
                nodes = log_p[:, : request.rollouts].argmax(-1)
            else:
                draws = uniforms(request.seeds.to(batch.device), numbers, step)
                nodes = _draw(log_p[:, : request.rollouts], draws)
            if given is not None:
                nodes = torch.cat([nodes, given[:, request.rollouts :]], dim=1)
            active = ~decoder.rules.done
            nodes = nodes.where(active, 0 if batch.problem.has_depot else decoder.rules.current)
            scored = active.clone()
            scored[:, : request.rollouts] &= step >= num_given
            scored[:, request.rollouts :] &= step > 0 or first_scored
            chosen = log_p.gather(-1, nodes.unsqueeze(-1)).squeeze(-1).double().where(scored, 0.0)
            # Without this look, a rollout that goes where it must not would never end.
            if not chosen.isfinite().all():
                raise NotFinite(f"the network has no probabilities at step {step}.")
            log_likelihood += chosen
            steps += active
            decoder.step(nodes)
            actions.append(nodes)
        tours = torch.stack(actions, dim=-1)
        result = Rollouts(
            tours, steps, log_likelihood, batch.problem.cost(batch, tours).double(), first_scored
        )
        if request.eta_sums is not None:
            _add_eta_sums(batch, inputs, decoding, request, result)
        return result

    def weighted_log_likelihood(  # noqa: D102
        self,
        batch: Batch,
        inputs: DecoderInputs,
        decoding: Decoding,
        rollouts: Rollouts,
        weights: Tensor,
        patience: Patience = ENDLESS,
    ) -> Tensor:
        found = _log_likelihood(
            batch, inputs, decoding, rollouts.actions, rollouts.first_scored, patience
        )
        return (found * weights).sum()

    def given_log_likelihood(  # noqa: D102
        self,
        batch: Batch,
        inputs: DecoderInputs,
        decoding: Decoding,
        actions: Tensor,
        weights: Tensor,
        first_scored: bool,
    ) -> tuple[Tensor, Tensor]:
        found = _log_likelihood(batch, inputs, decoding, actions, first_scored, ENDLESS)
        return (found * weights).sum(), found.detach().double()


class StepDecoder:
    """The decoder's view of all rollouts at the current step.

    Parameters
    ----------
    batch
        The instances.
    inputs
        What the policy made of them.
    decoding
        Temperature, locality bias and adapter.
    rollouts
        Number of rollouts of each instance.
    """

    def __init__(
        self, batch: Batch, inputs: DecoderInputs, decoding: Decoding, rollouts: int
    ) -> None:
        self.batch, self.inputs, self.decoding = batch, inputs, decoding
        self.shape = (batch.num_instances, rollouts)
        self.rules = batch.problem.rules(batch, rollouts)
        self.first: Tensor | None = None
        self.keys = self._split(inputs.keys)
        self.values = self._split(inputs.values)
        self.adapter = decoding.adapter_of(inputs)

    def log_probabilities(self, given: Tensor | None = None) -> Tensor:
        """Log-probabilities of all nodes, shape (instances, rollouts, nodes).

        Parameters
        ----------
        given
            Node that each rollout has to go to, negative where there is none,
            shape (instances, rollouts); however far, it is looked at.
        """
        inputs, decoding = self.inputs, self.decoding
        forbidden = self.rules.forbidden()
        if decoding.neighbours is not None and bool((self.rules.current >= 0).all()):
            forbidden = forbidden | ~self._nearest(forbidden, decoding.neighbours, given)
        asked = self._query()
        query = self._split(asked)
        scores = query @ self.keys.transpose(-1, -2) / math.sqrt(query.shape[-1])
        distances = measures(self.batch, self.rules.current) if inputs.has_locality else None
        if inputs.glimpse_locality is not None and distances is not None:
            scores = scores - preference(inputs.glimpse_locality, distances).transpose(0, 1)
        weights = scores.masked_fill(forbidden.unsqueeze(1), -math.inf).softmax(-1)
        glimpse = (weights @ self.values).transpose(1, 2).flatten(2)
        adapter = self.adapter
        if adapter is not None and adapter.place == "before":
            glimpse = adapter(glimpse)
        query = torch.nn.functional.linear(glimpse, inputs.combine_weight, inputs.combine_bias)
        if inputs.skip:
            query = query + asked
        if adapter is not None and adapter.place == "after":
            query = adapter(query)
        scores = query @ inputs.pointers.transpose(-1, -2) / math.sqrt(inputs.width)
        logits = self._clipped(scores, distances).masked_fill(forbidden, -math.inf)
        logits = logits / decoding.temperature
        if decoding.bonus is not None and bool((self.rules.current >= 0).all()):
            logits = logits + self._bonus(decoding.bonus)
        return logits.log_softmax(-1)

    def _nearest(self, forbidden: Tensor, count: int, given: Tensor | None) -> Tensor:
        """Say which nodes a step looks at, whether they are allowed or not."""
        places = self.batch.coords.double()
        here = _rows(places, self.rules.current).unsqueeze(2)
        # Rounded at the end, so that equal distances are equal in all engines.
        square = (here - places.unsqueeze(1)).square().sum(-1).float()
        square = square.masked_fill(forbidden, math.inf)
        if self.batch.problem.has_depot:
            square[..., 0] = math.inf
        order = square.argsort(dim=-1, stable=True)
        nearest = torch.zeros_like(forbidden).scatter(-1, order[..., :count], True)
        if self.batch.problem.has_depot:
            nearest[..., 0] = True
        if given is not None:
            nodes = torch.arange(self.batch.num_nodes, device=nearest.device)
            nearest |= nodes == given.unsqueeze(-1)
        return nearest

    def _bonus(self, bonus: EdgeBonus) -> Tensor:
        """Bonuses of the edges that leave the current nodes."""
        nodes = self.batch.num_nodes
        table = bonus.values.new_zeros(self.shape[0], nodes, nodes)
        rows = torch.arange(self.shape[0], device=table.device).unsqueeze(1)
        table[rows, bonus.sources, bonus.targets] = bonus.values
        return _rows(table, self.rules.current)

    def step(self, nodes: Tensor) -> None:
        """Go to one node in each rollout."""
        self.rules.step(nodes)
        if self.first is None:
            self.first = nodes

    def select(self, rollouts: Tensor) -> None:
        """Keep the states of some rollouts, shape (instances, kept)."""
        self.rules.select(rollouts)
        if self.first is not None:
            self.first = self.first.gather(1, rollouts)
        self.shape = (self.shape[0], rollouts.shape[1])

    def _query(self) -> Tensor:
        inputs, current = self.inputs, self.rules.current
        if self.first is None and not self.batch.problem.has_depot:
            start = inputs.query_start
            if start is None:  # a forced start makes this step's query irrelevant
                start = inputs.query_last.mean(1)
            return start.unsqueeze(1).expand(-1, self.shape[1], -1)
        query = _rows(inputs.query_last, current)
        if inputs.query_first is not None and self.first is not None:
            query = query + _rows(inputs.query_first, self.first)
        scalar = self.rules.scalar()
        if inputs.query_scalar is not None and scalar is not None:
            query = query + scalar.unsqueeze(-1) * inputs.query_scalar
        return query

    def _clipped(self, scores: Tensor, distances: Tensor | None) -> Tensor:
        bias, clip = self.decoding.bias, self.inputs.clip
        own: Tensor | float = 0.0
        if self.inputs.pointer_locality is not None and distances is not None:
            own = preference(self.inputs.pointer_locality, distances)
        if self.inputs.locality_inside:
            scores, own = scores - own, 0.0
        if bias is None or bool((self.rules.current < 0).any()):
            return clip * scores.tanh() - own
        here = _rows(self.batch.coords, self.rules.current).unsqueeze(2)
        distance = (here - self.batch.coords.unsqueeze(1)).square().sum(-1).sqrt()
        if bias.kind == "inside":
            return clip * (scores - distance.pow(bias.strength)).tanh() - own
        return clip * scores.tanh() - bias.strength * distance - own

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.inputs.heads, -1).transpose(1, 2)


def _rows(table: Tensor, nodes: Tensor) -> Tensor:
    """Rows of a per-node table at one node of each rollout."""
    return table.gather(1, nodes.unsqueeze(-1).expand(-1, -1, table.shape[-1]))


def _draw(log_p: Tensor, draws: Tensor) -> Tensor:
    """Invert the distribution function, nodes in the order of their numbers."""
    cumulative = log_p.double().exp().cumsum(-1)
    beyond = cumulative > (draws * cumulative[..., -1]).unsqueeze(-1)
    return beyond.to(torch.int8).argmax(-1)


def _given(forced: Tensor, chosen: int, step: int) -> Tensor:
    """Next nodes of all rollouts, the chosen ones first, which have none."""
    given = forced[..., step] if step < forced.shape[2] else forced[..., 0] * 0
    return torch.nn.functional.pad(given, (chosen, 0), value=-1)


def _watch(patience: Patience) -> None:
    """Give up where patience ends."""
    if patience.is_over():
        raise DeadlineReached


def _log_likelihood(
    batch: Batch,
    inputs: DecoderInputs,
    decoding: Decoding,
    actions: Tensor,
    first_scored: bool,
    patience: Patience,
) -> Tensor:
    """Log-likelihoods of given rollouts, with a graph over all their steps."""
    decoder = StepDecoder(batch, inputs, decoding, actions.shape[1])
    total = inputs.keys.new_zeros(decoder.shape)
    for step, nodes in enumerate(actions.unbind(-1)):
        _watch(patience)
        if step > 0 or first_scored:
            chosen = decoder.log_probabilities(nodes).gather(-1, nodes.unsqueeze(-1)).squeeze(-1)
            total = total + chosen.where(~decoder.rules.done, 0.0)
        decoder.step(nodes)
    return total


def _add_eta_sums(
    batch: Batch, inputs: DecoderInputs, decoding: Decoding, request: Request, result: Rollouts
) -> None:
    """Let autograd differentiate what was rolled out with respect to eta."""
    assert decoding.adapter is not None
    assert request.eta_sums is not None
    with torch.enable_grad():
        eta = decoding.adapter.flat().detach().requires_grad_()
        adapter = type(decoding.adapter).from_flat(eta, decoding.adapter.place)
        tracked = replace(decoding, adapter=adapter, bonus=None)
        log_likelihood = _log_likelihood(
            batch, inputs, tracked, result.actions, result.first_scored, request.patience
        )
        if not log_likelihood.requires_grad:  # every step was given
            return
        centre = 0.0 if request.centre is None else request.centre.unsqueeze(1).to(result.cost)
        chosen = torch.arange(result.cost.shape[1], device=batch.device) < request.rollouts
        sums = request.eta_sums
        for total, weights in (
            (sums.by_cost, (result.cost - centre) * chosen),
            (sums.plain, chosen.expand_as(result.cost)),
            (sums.forced, (~chosen).expand_as(result.cost)),
        ):
            weighted = (log_likelihood * weights.to(log_likelihood.dtype)).sum()
            (gradient,) = torch.autograd.grad(weighted, eta, retain_graph=True)
            total += gradient.to(total)
