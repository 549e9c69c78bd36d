"""The scale meta-learner g_phi: moves node embeddings to where larger instances need them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn

from metasage.errors import InputError
from metasage.problems.batch import Batch

Reading = Literal["paper", "official"]
READINGS: tuple[Reading, ...] = ("official", "paper")

# The published code's width of the second layer; the paper's is that of the embedding.
_OFFICIAL_HIDDEN = 1024

# Networks are trained at this size, so that it has the scale 1.
_TRAINING_SIZE = 100

# Numbers of an embedding have a standard deviation of about 1.
_LIFT = 4.0

# Rows of the distance matrix that are in memory at a time.
_ROWS = 1024


class ScaleMetaLearner(nn.Module):
    """Maps embeddings h and the scale of the instance to scale-aware embeddings.

    ``paper``: ``mlp(h + cond(N / 100))``, with biases, as wide as the embedding.
    ``official``, as in the published code: ``h + mlp(h + cond(s))`` without biases,
    with a scale s of each node that is corrected for the density around it.

    Parameters
    ----------
    reading
        Which of the two.
    width
        Width of the embedding.
    hidden
        Width of the hidden layer; None takes the reading's own.
    """

    def __init__(
        self, reading: Reading = "official", width: int = 128, hidden: int | None = None
    ) -> None:
        super().__init__()
        if reading not in READINGS:
            raise InputError(f"reading '{reading}' is not one of {', '.join(READINGS)}.")
        self.reading = reading
        inner = hidden or (_OFFICIAL_HIDDEN if reading == "official" else width)
        bias = reading == "paper"
        self.scale_in = nn.Linear(1, width, bias=bias)
        self.scale_out = nn.Linear(width, width, bias=bias)
        self.hidden = nn.Linear(width, inner, bias=bias)
        self.output = nn.Linear(inner, width, bias=bias)
        self._begin_as_identity()

    @torch.no_grad()
    def _begin_as_identity(self) -> None:
        """Take first weights with which nothing moves, as far as the form has such."""
        if self.reading == "official":
            self.output.weight.zero_()
            return
        self.scale_out.weight.zero_()
        self.scale_out.bias.zero_()
        # Lifted by so much, hardly any number of an embedding is cut off by the ReLU.
        for layer, lift in ((self.hidden, _LIFT), (self.output, -_LIFT)):
            nn.init.eye_(layer.weight)
            layer.bias.fill_(lift)

    @property
    def width(self) -> int:
        """Width of the embedding."""
        return self.scale_out.out_features

    def forward(self, h: Tensor, batch: Batch) -> Tensor:
        """Transform embeddings of shape (instances, nodes, width).

        Parameters
        ----------
        h
            Node embeddings of the encoder.
        batch
            The instances.
        """
        condition = self.scale_out(torch.relu(self.scale_in(self.scale(batch))))
        moved: Tensor = self.output(torch.relu(self.hidden(h + condition)))
        return h + moved if self.reading == "official" else moved

    def scale(self, batch: Batch, size: float | None = None) -> Tensor:
        """Return the scale that is fed in, shape (instances, nodes or 1, 1).

        An instance that is said to have another size is seen as if its places
        were the density of so many nodes.
        """
        depot = int(batch.problem.has_depot)
        if self.reading == "paper":
            told = batch.num_nodes - depot if size is None else size
            return batch.coords.new_full((batch.num_instances, 1, 1), told / _TRAINING_SIZE)
        told = batch.num_nodes if size is None else size + depot
        return told / _TRAINING_SIZE / _sparsity(batch.coords, batch.num_nodes / told)


def _sparsity(coords: Tensor, thinned: float) -> Tensor:
    """Mean distance of each node to all, over that to its hundred nearest.

    Parameters
    ----------
    coords
        Places of the nodes.
    thinned
        How many nodes stand for one. The hundred nearest of a thinner set reach as
        far as that many times a hundred of these.
    """
    nodes = coords.shape[1]
    near = min(nodes, max(2, round(_TRAINING_SIZE * thinned)))
    wanted = min(_TRAINING_SIZE, nodes / thinned)
    # A node is one of its own nearest, at no distance, however many these are.
    self_share = (1 - 1 / wanted) / (1 - 1 / near) if near > 1 else 1.0
    parts = []
    for rows in torch.split(coords, _ROWS, dim=1):
        distance = torch.cdist(rows, coords, compute_mode="donot_use_mm_for_euclid_dist")
        nearest = distance.topk(near, dim=-1, largest=False).values
        ratio = distance.mean(-1) / (self_share * nearest.mean(-1))
        # Where all nodes lie on one spot, any part is as dense as the whole.
        parts.append(torch.where(ratio.isnan(), 1.0, ratio))
    return torch.cat(parts, dim=1).unsqueeze(-1)


@dataclass(frozen=True, eq=False)
class Sml:
    """A scale meta-learner with its provenance.

    Parameters
    ----------
    learner
        The module, in evaluation mode.
    provenance
        How the weights were made, as plain data.
    name
        What the user called it: a network's name, or a file.
    """

    learner: ScaleMetaLearner
    provenance: dict[str, Any] = field(default_factory=dict)
    name: str = "custom"

    @property
    def sizes(self) -> tuple[int, int] | None:
        """Smallest and largest size it was trained on, if that is known."""
        sizes = self.provenance.get("sizes")
        return (min(sizes), max(sizes)) if sizes else None

    @classmethod
    def build(
        cls, reading: Reading, tensors: Mapping[str, Tensor], provenance: dict[str, Any]
    ) -> Sml:
        """Make a meta-learner of tensors that must fit exactly."""
        try:
            width, hidden = tensors["output.weight"].shape
            with torch.device("meta"):
                learner = ScaleMetaLearner(reading, int(width), int(hidden))
            weights = {name: tensor.float() for name, tensor in tensors.items()}
            learner.load_state_dict(weights, assign=True)
        except (KeyError, ValueError, RuntimeError):
            raise InputError(
                f"the tensors are not those of a scale meta-learner ({reading})."
            ) from None
        if not all(torch.isfinite(weight).all() for weight in learner.parameters()):
            raise InputError("a weight of the scale meta-learner is not a finite number.")
        return cls(learner.eval().requires_grad_(False), provenance)
