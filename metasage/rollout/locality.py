"""How far nodes are, as a policy that prefers near nodes sees it.

A distance d in units of the mean distance between neighbours counts in two measures:
as it is, and as log2(1 + d). Nothing is near to the depot or far from it: that is
where routes begin and end, not a place on their way.
"""

from __future__ import annotations

import torch
from torch import Tensor

from metasage.problems.batch import Batch


def measures(batch: Batch, nodes: Tensor) -> Tensor:
    """Measure the distances of all nodes from some.

    Parameters
    ----------
    batch
        The instances.
    nodes
        Nodes of shape (instances, rollouts); negative where a rollout is nowhere yet.

    Returns
    -------
    Tensor
        Both measures, shape (2, instances, rollouts, nodes).
    """
    rows = nodes.clamp(min=0).unsqueeze(-1).expand(-1, -1, 2)
    here = batch.coords.gather(1, rows).unsqueeze(2)
    distance = (here - batch.coords.unsqueeze(1)).square().sum(-1).sqrt()
    distance = distance / batch.unit[:, None, None]
    first = int(batch.problem.has_depot)
    distance = distance.where((nodes >= first).unsqueeze(-1), 0.0)
    if first:
        distance[..., 0] = 0.0
    return torch.stack([distance, (1 + distance).log2()])


def preference(strengths: Tensor, distances: Tensor) -> Tensor:
    """Return what distances take off a score.

    Parameters
    ----------
    strengths
        Strength of both measures, shape (..., 2).
    distances
        Both measures, the first axis.
    """
    shape = (*strengths.shape[:-1], *(1,) * (distances.dim() - 1))
    plain, log = (strength.view(shape) for strength in strengths.unbind(-1))
    return plain * distances[0] + log * distances[1]
