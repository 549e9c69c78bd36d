"""Data-parallel training over the processes that torchrun started."""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch import distributed as dist

from metasage.errors import InputError


@dataclass(frozen=True)
class Processes:
    """One process among its peers.

    Parameters
    ----------
    rank, count
        Number of this process, and number of all.
    """

    rank: int = 0
    count: int = 1

    @classmethod
    def join(cls, device: torch.device) -> Processes:
        """Join the processes of torchrun, if it started this one."""
        if int(os.environ.get("WORLD_SIZE", "1")) == 1:
            return cls()
        if not dist.is_initialized():
            dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        return cls(dist.get_rank(), dist.get_world_size())

    @property
    def is_first(self) -> bool:
        """Whether this process writes files and prints."""
        return self.rank == 0

    def share(self, items: int) -> list[int]:
        """Return the items that this process works on."""
        if items < self.count:
            raise InputError(f"a batch of {items} cannot be shared by {self.count} processes.")
        return list(range(items))[self.rank :: self.count]

    def add(self, values: Tensor) -> Tensor:
        """Sum values over all processes."""
        if self.count > 1:
            dist.all_reduce(values)
        return values

    def add_gradients(self, module: nn.Module) -> None:
        """Sum gradients over all processes, in one message."""
        if self.count == 1:
            return
        gradients = [p.grad for p in module.parameters() if p.grad is not None]
        flat = self.add(torch.cat([gradient.flatten() for gradient in gradients]))
        parts = torch.split(flat, [gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))

    def wait(self) -> None:
        """Wait until all processes are here."""
        self.add(torch.zeros(1))

    def leave(self) -> None:
        """Say goodbye to the other processes."""
        if self.count > 1:
            dist.destroy_process_group()
