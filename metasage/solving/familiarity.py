"""Whether an instance is like those that a network was trained on."""

from __future__ import annotations

import warnings

from metasage.errors import OutsideTraining
from metasage.policies.model import Model
from metasage.policies.sml import Sml
from metasage.problems import Instance

# Adaptation carries a network so many times beyond its training size.
_REACH = 100


def warn_if_unfamiliar(instance: Instance, model: Model, sml: Sml | None) -> None:
    """Warn once of a size that the network or its meta-learner has not learned for."""
    size = instance.size
    trained = model.training_size
    if trained is not None and size > _REACH * trained:
        _warn(
            f"{instance.title} has {size} nodes, more than {_REACH} times the "
            f"{trained} that {model.name} was trained on: expect little of the network."
        )
    if sml is not None and sml.sizes is not None and not sml.sizes[0] <= size <= sml.sizes[1]:
        low, high = sml.sizes
        _warn(
            f"the scale meta-learner {sml.name} was trained on {low} to {high} nodes; with "
            f"{size} it extrapolates."
        )


def _warn(sentence: str) -> None:
    warnings.warn(sentence, OutsideTraining, stacklevel=3)
