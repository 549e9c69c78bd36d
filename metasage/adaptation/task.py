"""One instance, a policy and an engine: what every method works with."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from metasage.adaptation.resources import encoding_seconds, one_thread, require_memory
from metasage.errors import InputError
from metasage.policies.policy import AttentionPolicy
from metasage.policies.sml import ScaleMetaLearner
from metasage.policies.symmetry import augment
from metasage.problems import Instance, Solution
from metasage.problems.batch import Batch
from metasage.rollout.interface import (
    DeadlineReached,
    DecoderInputs,
    Decoding,
    Engine,
    EtaSums,
    Request,
    Rollouts,
)
from metasage.rollout.random import instance_seeds
from metasage.rollout.starts import likeliest_starts, reachable_starts
from metasage.runtime.interrupts import ENDLESS, Patience
from metasage.runtime.resources import free_memory
from metasage.runtime.timing import CHUNK_STEPS

# Chunks are multiples of the engine's tiles, so that its sums stay as they are.
_CHUNK = 64


@dataclass(eq=False)
class Task:
    """An instance as a policy sees it, in one or several symmetric copies.

    Parameters
    ----------
    instance
        The instance.
    policy, engine
        What constructs rollouts.
    batch
        The symmetric copies of the instance.
    sml
        The scale meta-learner that moves their embeddings, if any.
    embedding
        Their node embeddings h, moved by it.
    inputs
        What the decoder takes from them.
    rollouts
        Rollouts of each copy in an iteration.
    seed
        Seed of everything random.
    max_memory
        Bytes that rollouts may take at a time.
    patience
        When engines give up.
    decoding
        What all methods start from when they say how choices are made.
    """

    instance: Instance
    policy: AttentionPolicy
    engine: Engine
    batch: Batch
    sml: ScaleMetaLearner | None
    embedding: Tensor
    inputs: DecoderInputs
    rollouts: int
    seed: int
    max_memory: float
    patience: Patience = ENDLESS
    decoding: Decoding = field(default_factory=Decoding)

    @classmethod
    def of(
        cls,
        instance: Instance,
        policy: AttentionPolicy,
        engine: Engine,
        *,
        sml: ScaleMetaLearner | None = None,
        rollouts: int | None,
        copies: int,
        seed: int,
        max_memory: float | None = None,
        patience: Patience = ENDLESS,
        neighbours: int | None = None,
        device: str = "cpu",
    ) -> Task:
        """Encode an instance.

        Raises
        ------
        DeadlineReached
            If encoding would take longer than there is time.
        """
        left = patience.seconds_left
        if left is not None and encoding_seconds(policy, instance) * copies > left:
            raise DeadlineReached
        memory = free_memory() / 2 if max_memory is None else max_memory
        require_memory(instance, copies, instance.size if rollouts is None else rollouts, memory)
        if torch.device(device).type != "cpu":
            policy, sml = copy.deepcopy((policy, sml))
            policy.to(device)
            if sml is not None:
                sml.to(device)
        batch = augment(policy.view([instance], device), copies)
        with torch.no_grad(), one_thread():
            embedding = scaled_embedding(policy, sml, batch)
            inputs: DecoderInputs = policy.decoder(embedding)
        wanted = instance.size if rollouts is None else rollouts
        if wanted < 1:
            raise InputError(f"rollouts is {wanted} and must be at least 1.")
        return cls(
            instance,
            policy,
            engine,
            batch,
            sml,
            embedding,
            inputs,
            wanted,
            seed,
            memory,
            patience,
            Decoding(neighbours=neighbours or policy.config.nearest(batch.num_nodes)),
        )

    def starts(self, greedy: bool) -> Tensor | None:
        """First nodes of the rollouts, shape (copies, rollouts); None leaves them free.

        POMO's rollout i starts at node i; with fewer rollouts than nodes a
        random subset is taken, with more they go round. A policy without forced
        starts chooses freely, but for several greedy rollouts, which take its
        most probable first nodes.
        """
        rows, count, config = self.batch.num_instances, self.rollouts, self.policy.config
        first = int(config.rules.has_depot)
        device = self.batch.device
        if config.starts == "forced":
            if greedy and count == 1 and config.rules.has_depot:
                return None
            nodes = torch.arange(self.instance.size)
            if count < len(nodes):
                generator = torch.Generator().manual_seed(self.seed)
                order = torch.randperm(len(nodes), generator=generator)
                nodes = order[:count].sort().values
            taken = nodes[torch.arange(count) % len(nodes)] + first
            return reachable_starts(self.batch, taken.expand(rows, -1).to(device))
        if greedy and count > 1:
            return likeliest_starts(self.batch, self.inputs, count)
        return None

    def rollout(
        self, decoding: Decoding, iteration: int, request: Request | None = None
    ) -> Rollouts:
        """Roll out all copies, in chunks where memory or a deadline demands it.

        Parameters
        ----------
        decoding
            How choices are made.
        iteration
            Number of the iteration, which selects the random stream.
        request
            What else is wanted; its number of rollouts, seeds and starts are filled in.
        """
        rows = self.batch.num_instances
        starts = self.starts(decoding.greedy)
        seeds = instance_seeds(self.seed, rows, first=iteration * rows)
        wanted = Request(0, seeds) if request is None else request
        step = self.chunk(learning=wanted.eta_sums is not None)
        parts = []
        for offset in range(0, self.rollouts, step):
            count = min(step, self.rollouts - offset)
            part = replace(
                wanted,
                rollouts=count,
                seeds=seeds,
                offset=offset,
                starts=None if starts is None else starts[:, offset : offset + count],
                # Forced rollouts come once, behind the last of the others.
                forced=wanted.forced if offset + count == self.rollouts else None,
                patience=self.patience,
            )
            try:
                parts.append(self.engine.rollout(self.batch, self.inputs, decoding, part))
            except DeadlineReached as late:
                late.found = Rollouts.joined(parts) if parts else None
                raise
        return Rollouts.joined(parts)

    def replayed(self, solution: Solution | None) -> Tensor | None:
        """Return a solution, if there is one, as a forced rollout of every copy."""
        if solution is None:
            return None
        actions = torch.tensor(self.instance.problem.to_actions(solution))
        return actions.to(self.batch.device).expand(self.batch.num_instances, 1, -1)

    def eta_gradient(self, decoding: Decoding, forced: Tensor) -> Tensor:
        """Gradient of the log-likelihoods of given rollouts with respect to eta."""
        rows = self.batch.num_instances
        sums = EtaSums.zeros(rows, self.inputs.width, self.batch.device)
        starts = self.starts(decoding.greedy)
        request = Request(
            0,
            torch.zeros(rows, dtype=torch.long),
            starts=None if starts is None else starts[:, :0],
            forced=forced,
            eta_sums=sums,
            patience=self.patience,
        )
        self.engine.rollout(self.batch, self.inputs, decoding, request)
        return sums.forced

    def chunk(self, learning: bool) -> int:
        """Rollouts at a time: they fit in memory, and a deadline loses few of them.

        Parameters
        ----------
        learning
            Whether they are differentiated, for which torch remembers all steps.
        """
        nodes, rows = self.batch.num_nodes, self.batch.num_instances
        # Actions, in the engine's integers and in torch's; at most two steps a node.
        each = rows * 2 * nodes * 16
        if self.engine.name == "torch":
            # Scores of all heads, their softmax and products, masks and logits.
            step = rows * nodes * 4 * (3 * self.inputs.heads + 12)
            each += step * nodes if learning else step
        most = self.max_memory / each
        if self.patience.deadline is not None:
            # A step looks at all nodes and multiplies by the width.
            work = rows * nodes * (nodes + self.inputs.keys.shape[-1])
            most = min(most, CHUNK_STEPS / work)
        if self.engine.name == "torch":
            return max(1, int(most))
        return max(_CHUNK, int(most) // _CHUNK * _CHUNK)


def scaled_embedding(policy: AttentionPolicy, sml: ScaleMetaLearner | None, batch: Batch) -> Tensor:
    """Encode a batch, and let the scale meta-learner move the embeddings."""
    h = policy.embed(batch)
    return h if sml is None else sml(h, batch)
