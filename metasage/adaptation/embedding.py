"""How far adaptation moves the embeddings of an instance: labels and experiments ask for it."""

from __future__ import annotations

import torch
from torch import Tensor

from metasage.adaptation.interrupts import Interrupted
from metasage.adaptation.result import Incumbent
from metasage.adaptation.sage import Sage, SageOnEmbedding
from metasage.adaptation.search import Search
from metasage.adaptation.stop import MaxIterations
from metasage.adaptation.task import Task
from metasage.policies.model import Model
from metasage.policies.sml import Sml
from metasage.problems import Instance
from metasage.rollout.interface import Engine


def move_embedding(
    instance: Instance,
    model: Model,
    engine: Engine,
    method: Sage,
    seed: int,
    sml: Sml | None = None,
) -> tuple[Tensor, Search]:
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
    tuple of Tensor and Search
        How far each embedding moved, shape (nodes, width), and the finished search.

    Raises
    ------
    Interrupted
        If the user ended it.
    """
    task = Task.of(
        instance,
        model.policy,
        engine,
        sml=None if sml is None else sml.learner,
        rollouts=method.rollouts,
        copies=1,
        seed=seed,
    )
    strategy = method.start(task)
    assert isinstance(strategy, SageOnEmbedding)
    assert method.iterations is not None
    search = Search(Incumbent(instance), MaxIterations(method.iterations), method.iterations)
    search.run(strategy)
    if search.interrupted:
        raise Interrupted
    with torch.no_grad():
        return (strategy.adapted_embedding() - task.embedding)[0], search
