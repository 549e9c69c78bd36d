"""What the gradient of a training step is made of."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def advantage_weights(cost: Tensor, copies: int, normalise: bool) -> Tensor:
    """Weights of the log-likelihoods whose sum is the policy-gradient loss.

    POMO (Kwon et al. 2020) compares the rollouts of an instance with their
    mean. Sym-NCO (Kim et al. 2022) does so within each copy (solution
    symmetricity) and over all copies (problem symmetricity), and adds both.

    Parameters
    ----------
    cost
        Costs of shape (copies x instances, rollouts), copy by copy.
    copies
        Number of symmetric copies.
    normalise
        Whether advantages are divided by their standard deviation in each
        instance.

    Returns
    -------
    Tensor
        Weights of the same shape: cost minus baseline, to be descended.
    """
    by_instance = cost.view(copies, -1, cost.shape[1]).transpose(0, 1)
    joint = _centred(by_instance.flatten(1), normalise).view_as(by_instance)
    if copies > 1 and cost.shape[1] > 1:
        joint = joint + _centred(by_instance.flatten(0, 1), normalise).view_as(by_instance)
    return joint.transpose(0, 1).reshape_as(cost)


def invariance_loss(projected: Tensor, copies: int) -> Tensor:
    """Mean dissimilarity of the node embeddings of an instance and of its copies.

    Parameters
    ----------
    projected
        Projected node embeddings, shape (copies x instances, nodes, width).
    copies
        Number of symmetric copies, the first of which is the original.
    """
    original, *others = projected.chunk(copies)
    similarity = [functional.cosine_similarity(original, other, dim=-1).mean() for other in others]
    return -torch.stack(similarity).mean()


def in_deviations(cost: Tensor) -> Tensor:
    """Return the costs of each row as multiples of their standard deviation.

    Where all cost the same there is nothing to learn, and nothing to divide by.
    """
    return cost / cost.std(dim=1, keepdim=True).clamp(min=1e-4)


def _centred(cost: Tensor, normalise: bool) -> Tensor:
    centred = cost - cost.mean(dim=1, keepdim=True)
    return in_deviations(centred) if normalise else centred
