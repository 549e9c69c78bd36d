"""Instances as the network sees them: tensors in the unit square."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from metasage.errors import InputError
from metasage.problems.instance import Instance
from metasage.problems.metric import Floats

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from metasage.problems.base import Problem

# A set drawn in the unit square is taken as it is, so that published networks
# see what they were trained on; anything much smaller than the square is not.
_LEAST_EXTENT = 0.5

# Neighbours whose distance is the unit of length, the least that is one, and the nodes
# whose distances are computed at a time.
_NEAREST = 3
_LEAST_UNIT = 1e-6
_ROWS = 1024


@dataclass(frozen=True, eq=False)
class Batch:
    """Instances of one problem and one size, in the units of the network.

    Parameters
    ----------
    problem
        The problem.
    coords
        Places in the unit square, shape (instances, nodes, 2).
    fields
        What the problem's rules, features and cost need besides.
    """

    problem: Problem
    coords: Tensor
    fields: dict[str, Tensor] = field(default_factory=dict)

    @classmethod
    def of(cls, instances: Sequence[Instance], device: torch.device | str = "cpu") -> Batch:
        """Stack instances of the same problem and size."""
        import torch  # here, so that files can be read and checked without it

        problem = instances[0].problem
        coords, rows = [], []
        for instance in instances:
            if instance.problem is not problem or instance.num_nodes != instances[0].num_nodes:
                raise InputError("a batch takes instances of one problem and one size.")
            if (reason := problem.why_no_network(instance)) is not None:
                raise InputError(f"{reason}.")
            unit, scale = unit_square(instance)
            coords.append(unit)
            rows.append(problem.network_fields(instance, scale))
        fields = {
            name: torch.from_numpy(np.stack([row[name] for row in rows])).to(device)
            for name in rows[0]
        }
        places = torch.from_numpy(np.stack(coords)).to(device, torch.float32)
        return cls(problem, places, fields)

    @property
    def num_instances(self) -> int:
        """Number of instances."""
        return self.coords.shape[0]

    @property
    def num_nodes(self) -> int:
        """Number of nodes of each instance, the depot included."""
        return self.coords.shape[1]

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self.coords.device

    @cached_property
    def features(self) -> Tensor:
        """Node features of shape (instances, nodes, features)."""
        return self.problem.features(self)

    @cached_property
    def unit(self) -> Tensor:
        """Mean distance of a node to its three nearest ones, shape (instances,).

        It is the unit of distances that do not depend on how many nodes there are.
        """
        import torch

        nearest = min(_NEAREST, self.num_nodes - 1)
        if nearest == 0:
            return self.coords.new_ones(self.num_instances)
        sums = self.coords.new_zeros(self.num_instances)
        for rows in torch.split(self.coords, _ROWS, dim=1):
            # Each node is nearest to itself.
            found = torch.cdist(rows, self.coords, compute_mode="donot_use_mm_for_euclid_dist")
            sums += found.topk(nearest + 1, largest=False).values.sum(dim=(1, 2))
        mean = sums / (nearest * self.num_nodes)
        return mean.where(mean > _LEAST_UNIT, 1.0)

    def moved(self, coords: Tensor) -> Batch:
        """Return the same instances with their places mapped by an isometry."""
        return replace(self, coords=coords)

    def select(self, rows: Tensor) -> Batch:
        """Return some of the instances."""
        return Batch(
            self.problem,
            self.coords[rows],
            {name: values[rows] for name, values in self.fields.items()},
        )

    def edge_lengths(self, sources: Tensor, targets: Tensor) -> Tensor:
        """Unit-square lengths of the edges between nodes, shape as the nodes'."""
        difference = self._places(sources) - self._places(targets)
        return difference.square().sum(-1).sqrt()

    def tour_length(self, actions: Tensor) -> Tensor:
        """Unit-square length of closed tours, shape (instances, rollouts)."""
        return self.edge_lengths(actions, actions.roll(-1, dims=-1)).sum(-1)

    def depot_tour_length(self, actions: Tensor) -> Tensor:
        """Unit-square length of tours that leave and end at the depot."""
        from torch.nn.functional import pad

        return self.tour_length(pad(actions, (1, 0)))

    def with_columns(self, *columns: Tensor) -> Tensor:
        """Join the places and per-node numbers into node features."""
        import torch

        return torch.cat([self.coords, *(column.unsqueeze(-1).float() for column in columns)], -1)

    def _places(self, nodes: Tensor) -> Tensor:
        flat = nodes.flatten(1).unsqueeze(-1).expand(-1, -1, 2)
        return self.coords.gather(1, flat).view(*nodes.shape, 2)


def unit_square(instance: Instance) -> tuple[Floats, float]:
    """Map an instance into the unit square.

    Returns
    -------
    tuple
        Places in the unit square, and the length of its side in original
        units. Both axes have the same scale.
    """
    if instance.coords is None:
        raise InputError(f"{instance.title} has no coordinates, which a network needs.")
    low = instance.coords.min(axis=0)
    extent = float((instance.coords - low).max())
    inside = low.min() >= 0.0 and instance.coords.max() <= 1.0
    if inside and extent >= _LEAST_EXTENT:
        return instance.coords, 1.0
    scale = extent if extent > 0.0 else 1.0
    return np.asarray((instance.coords - low) / scale), scale
