"""A policy with its weights and where they come from, as one file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from metasage.errors import InputError
from metasage.policies.config import PolicyConfig
from metasage.policies.metadata import open_model, pack, training_size, unpack
from metasage.policies.policy import AttentionPolicy

SML_PREFIX = "sml."


@dataclass(frozen=True, eq=False)
class Model:
    """A policy, its scale meta-learner's weights, and its provenance.

    Parameters
    ----------
    policy
        The network, in evaluation mode.
    sml
        Tensors of a scale meta-learner that came in the same file.
    provenance
        How the weights were made, as plain data.
    name
        What the user called it: a shipped network's name, or a file.
    """

    policy: AttentionPolicy
    sml: dict[str, Tensor] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    name: str = "custom"

    @property
    def config(self) -> PolicyConfig:
        """Architecture of the policy."""
        return self.policy.config

    @property
    def training_size(self) -> int | None:
        """Largest size it was trained on, if that is known."""
        return training_size(self.provenance)

    def suggestions(self, method: str) -> dict[str, Any]:
        """Return the settings of a method that measured best with this network, if any."""
        return dict(self.provenance.get("settings", {}).get(method, {}))

    def near(self, nodes: int) -> int | None:
        """Return how many near nodes suffice a step among so many; None for all of them.

        Of networks that prefer near nodes some lose nothing when they see no others, and
        large instances are faster then.
        """
        neighbours, least = self.provenance.get("near", (0, 0))
        return neighbours if 0 < neighbours < nodes and nodes >= least else None

    @classmethod
    def build(
        cls, config: PolicyConfig, state: dict[str, Tensor], provenance: dict[str, Any]
    ) -> Model:
        """Make a model of tensors that must fit the architecture exactly."""
        _require_room(config, state)
        # Without storage: every weight is replaced, and no random number is drawn.
        with torch.device("meta"):
            policy = AttentionPolicy(config)
        own = policy.state_dict()
        sml = {
            name: _finite(name, tensor, torch.float32)
            for name, tensor in state.items()
            if name.startswith(SML_PREFIX)
        }
        given = {name: tensor for name, tensor in state.items() if name not in sml}
        for name in sorted(own.keys() ^ given.keys()):
            raise InputError(
                f"the tensor '{name}' is {'missing' if name in own else 'not part of the policy'}."
            )
        for name, tensor in given.items():
            if tensor.shape != own[name].shape:
                raise InputError(
                    f"the tensor '{name}' has the shape {tuple(tensor.shape)} and not "
                    f"{tuple(own[name].shape)}."
                )
        weights = {name: _finite(name, given[name], own[name].dtype) for name in given}
        for name, tensor in weights.items():
            if name.endswith("running_var") and (tensor < 0).any():
                raise InputError(f"the tensor '{name}' holds a negative variance.")
        policy.load_state_dict(weights, assign=True)
        return cls(policy.eval().requires_grad_(False), sml, provenance)

    def save(self, path: str | Path, dtype: torch.dtype = torch.float32) -> None:
        """Write the model as safetensors, whole or not at all."""
        from safetensors.torch import save

        from metasage.io import write_atomically

        tensors = self.policy.state_dict() | self.sml
        stored = {
            name: _finite(name, tensor, dtype if tensor.is_floating_point() else tensor.dtype)
            for name, tensor in tensors.items()
        }
        write_atomically(path, save(stored, pack(self.config, self.provenance)))


def _require_room(config: PolicyConfig, state: dict[str, Tensor]) -> None:
    """Complain about an architecture that cannot be that of so few and small tensors."""
    longest = max((max(tensor.shape, default=1) for tensor in state.values()), default=0)
    if config.layers > len(state):
        raise InputError(f"{len(state)} tensors are not those of {config.layers} layers.")
    if max(config.width, config.hidden) > longest:
        raise InputError(
            f"no tensor is as wide as the network, {config.width} and {config.hidden}."
        )


def _finite(name: str, tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a copy in the wanted precision, of finite numbers alone."""
    if tensor.is_floating_point() != dtype.is_floating_point:
        raise InputError(f"the tensor '{name}' holds {tensor.dtype} and not {dtype}.")
    copied = tensor.to(dtype, copy=True).contiguous()
    if not torch.isfinite(copied).all():
        raise InputError(f"the tensor '{name}' holds a value that is not a finite number.")
    return copied


def load_model(path: str | Path) -> Model:
    """Read a model that `Model.save` wrote.

    Raises
    ------
    InputError
        If the file is not such a model.
    """
    with open_model(path, "pt") as file:
        state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        config, provenance = unpack(file.metadata(), path)
    try:
        return Model.build(config, state, provenance)
    except InputError as error:
        raise InputError(error.message, path) from None
