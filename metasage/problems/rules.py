"""State of many rollouts at once: what may come next, and what a step does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from metasage.problems.batch import Batch


class Rules(ABC):
    """Masking rule and state transition of instances x rollouts.

    Parameters
    ----------
    batch
        The instances.
    rollouts
        Number of rollouts of each.
    """

    def __init__(self, batch: Batch, rollouts: int) -> None:
        self.batch = batch
        self.current = batch.coords.new_zeros(batch.num_instances, rollouts).long()
        self.done = self.current.bool()
        self.visited = self.done.unsqueeze(-1).repeat(1, 1, batch.num_nodes)

    @abstractmethod
    def forbidden(self) -> Tensor:
        """Nodes that must not come next, shape (instances, rollouts, nodes).

        A rollout that is done may only stay where its problem lets it wait, so
        that there is always a choice.
        """

    def scalar(self) -> Tensor | None:
        """Return the number fed to the query, shape (instances, rollouts), if there is one."""
        return None

    def step(self, nodes: Tensor) -> None:
        """Go to one node in each rollout."""
        self.visited.scatter_(-1, nodes.unsqueeze(-1), True)
        self.current = nodes

    def select(self, rollouts: Tensor) -> None:
        """Keep the states of some rollouts, shape (instances, kept)."""
        shape = self.done.shape
        for name, values in list(vars(self).items()):
            if getattr(values, "shape", ())[:2] == shape:
                index = rollouts.view(*rollouts.shape, *(1,) * (values.dim() - 2))
                setattr(self, name, values.gather(1, index.expand(-1, -1, *values.shape[2:])))

    def _gather(self, name: str, nodes: Tensor) -> Tensor:
        """Values of a per-node field at one node of each rollout."""
        return self.batch.fields[name].gather(1, nodes)

    def _all_customers_visited(self) -> Tensor:
        return self.visited[..., 1:].all(-1)
