"""How far adaptation moves the embeddings of an instance: labels and experiments ask for it."""

from __future__ import annotations

import torch
from torch import Tensor

from metasage.adaptation.gradient import EmbeddingLayer, GradientAdaptation
from metasage.adaptation.loop import Loop
from metasage.adaptation.sage import Sage
from metasage.adaptation.task import Task
from metasage.policies.model import Model
from metasage.policies.sml import Sml
from metasage.problems import Instance
from metasage.rollout.interface import Engine
from metasage.runtime.interrupts import Interrupted, Patience, interruptible
from metasage.solving.record import Record


def move_embedding(
    instance: Instance,
    model: Model,
    engine: Engine,
    method: Sage,
    seed: int,
    sml: Sml | None = None,
) -> tuple[Tensor, Record]:
    """Adapt a residual layer on the embeddings to an instance.

    Parameters
    ----------
    instance
        The instance.
    model, engine
        What constructs rollouts.
    method
        SAGE with its adapter ``embedding`` and a number of iterations.
    seed
        Seed of eta and of the rollouts.
    sml
        The scale meta-learner that has moved the embeddings before.

    Returns
    -------
    tuple of Tensor and Record
        How far each embedding moved, shape (nodes, width), and what the search found.

    Raises
    ------
    Interrupted
        If the user ended it.
    """
    record = Record(instance)
    with interruptible() as record.interrupted:
        task = Task.of(
            instance,
            model.policy,
            engine,
            sml=None if sml is None else sml.learner,
            rollouts=method.rollouts,
            copies=1,
            seed=seed,
            patience=Patience(stopped=record.interrupted),
        )
        strategy = method.start(task)
        assert isinstance(strategy, GradientAdaptation)
        assert isinstance(strategy.adapted, EmbeddingLayer)
        assert method.iterations is not None
        Loop(record, method.iterations).run(strategy)
        if record.interrupted():
            raise Interrupted
    with torch.no_grad():
        return (strategy.adapted.embedding() - task.embedding)[0], record
