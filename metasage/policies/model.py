"""A policy with its weights and where they come from, as one file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from metasage.errors import InputError
from metasage.policies.config import PolicyConfig
from metasage.policies.policy import AttentionPolicy

_SML_PREFIX = "sml."
_METADATA_KEY = "metasage"


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
    """

    policy: AttentionPolicy
    sml: dict[str, Tensor] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def config(self) -> PolicyConfig:
        """Architecture of the policy."""
        return self.policy.config

    @classmethod
    def build(
        cls, config: PolicyConfig, state: dict[str, Tensor], provenance: dict[str, Any]
    ) -> Model:
        """Make a model of tensors that must fit the architecture exactly."""
        sml = {name: state[name] for name in state if name.startswith(_SML_PREFIX)}
        policy = AttentionPolicy(config)
        own = policy.state_dict()
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
            if not torch.isfinite(tensor).all():
                raise InputError(f"the tensor '{name}' holds a value that is not a finite number.")
        policy.load_state_dict({name: tensor.to(own[name].dtype) for name, tensor in given.items()})
        return cls(policy.eval().requires_grad_(False), sml, provenance)

    def save(self, path: str | Path, dtype: torch.dtype = torch.float32) -> None:
        """Write the model as safetensors, whole or not at all."""
        from safetensors.torch import save

        from metasage.io import write_atomically

        tensors = self.policy.state_dict() | self.sml
        stored = {
            name: (tensor.to(dtype) if tensor.is_floating_point() else tensor).contiguous()
            for name, tensor in tensors.items()
        }
        about = {"config": self.config.to_dict(), "provenance": self.provenance}
        write_atomically(path, save(stored, {_METADATA_KEY: json.dumps(about)}))


def load_model(path: str | Path) -> Model:
    """Read a model that `Model.save` wrote.

    Raises
    ------
    InputError
        If the file is not such a model.
    """
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if not path.is_file():
        raise InputError("there is no such model file.", path)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        reason = str(error).split("\n")[0]
        raise InputError(f"this is not a model of metasage ({reason}).", path) from None
    try:
        about = json.loads(metadata[_METADATA_KEY])
        config = PolicyConfig.from_dict(about["config"])
        provenance = dict(about["provenance"])
    except InputError as error:
        raise InputError(error.message, path) from None
    except (KeyError, TypeError, ValueError):
        raise InputError("the file lacks the metadata of a metasage model.", path) from None
    try:
        return Model.build(config, state, provenance)
    except InputError as error:
        raise InputError(error.message, path) from None
