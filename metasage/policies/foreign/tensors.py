"""A foreign state dict whose every tensor must be accounted for."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from metasage.errors import InputError
from metasage.io.files import quoted


class Tensors:
    """Tensors of a checkpoint, taken one by one.

    Parameters
    ----------
    state
        Names and tensors.
    """

    def __init__(self, state: Mapping[str, Tensor]) -> None:
        self._state = dict(state)
        self._taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._state

    def take(self, name: str, *shape: int | None) -> Tensor:
        """Take a tensor; a None in the shape fits any length."""
        if name not in self._state:
            raise InputError(f"the tensor '{name}' is missing.")
        tensor = self._state[name]
        fits = len(tensor.shape) == len(shape) and all(
            wanted in (None, length) for wanted, length in zip(shape, tensor.shape, strict=True)
        )
        if not fits:
            raise InputError(
                f"the tensor '{name}' has the shape {tuple(tensor.shape)} and not {shape}."
            )
        if not tensor.is_floating_point():
            raise InputError(f"the tensor '{name}' holds {tensor.dtype} and not real numbers.")
        if not torch.isfinite(tensor).all():
            raise InputError(f"the tensor '{name}' holds a value that is not a finite number.")
        self._taken.add(name)
        return tensor.detach().to(torch.float32)

    def linear(
        self, source: str, target: str, outputs: int, inputs: int | None
    ) -> dict[str, Tensor]:
        """Take a linear layer with its bias under another name."""
        return {
            f"{target}.weight": self.take(f"{source}.weight", outputs, inputs),
            f"{target}.bias": self.take(f"{source}.bias", outputs),
        }

    def norm(self, source: str, target: str, width: int) -> dict[str, Tensor]:
        """Take a normalisation, with its running statistics if it has them."""
        taken = {
            f"{target}.{part}": self.take(f"{source}.{part}", width) for part in ("weight", "bias")
        }
        if f"{source}.running_mean" in self:
            for part in ("running_mean", "running_var"):
                taken[f"{target}.{part}"] = self.take(f"{source}.{part}", width)
            self.ignore(f"{source}.num_batches_tracked")
            taken[f"{target}.num_batches_tracked"] = torch.tensor(0)
        return taken

    def ignore(self, *names: str) -> None:
        """Leave tensors aside that have no part in solving."""
        self._taken.update(names)

    def count(self, pattern: str) -> int:
        """Count the layers: the names that exist with 0, 1, ... in the pattern."""
        number = 0
        while pattern.format(number) in self:
            number += 1
        return number

    def finish(self) -> None:
        """Refuse the checkpoint if a tensor was not taken."""
        left = sorted(set(self._state) - self._taken)
        if left:
            raise InputError(f"the tensor {quoted(left[0])} has no place in a known network.")
