"""A training run: its folder, its state, and how it goes on after a kill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from metasage.errors import InputError
from metasage.io import write_atomically
from metasage.policies.config import PolicyConfig
from metasage.policies.library import find_model
from metasage.policies.model import Model
from metasage.policies.policy import AttentionPolicy
from metasage.training.optimiser import make_optimisers
from metasage.training.settings import TrainingSettings
from metasage.training.state import (
    load_optimiser,
    load_progress,
    load_state,
    load_tensors,
    read_settings,
    save_state,
    wrong_state,
)

SETTINGS, STATE, LOG, MODEL, CURVE, LABELS = (
    "settings.json",
    "state.pt",
    "log.jsonl",
    "model.safetensors",
    "curve.png",
    "labels",
)


class Run:
    """Policy, optimisers and progress of a run.

    Parameters
    ----------
    folder
        Where the run keeps its files.
    settings
        Settings of the run.
    device
        Where the policy is trained.

    Attributes
    ----------
    step, instances
        Number of steps made, and of instances that they saw.
    seconds
        Time spent, over all interruptions.
    validation_seconds
        What a validation takes, as far as it is known.
    skipped
        Number of steps that were not finite.
    interrupted
        Whether the user ended it.
    """

    def __init__(self, folder: Path, settings: TrainingSettings, device: torch.device) -> None:
        self.folder = folder
        self.settings = settings
        self.step = 0
        self.instances = 0
        self.seconds = self.validation_seconds = 0.0
        self.skipped = 0
        self.interrupted = False
        torch.manual_seed(settings.seed)
        self.policy = AttentionPolicy(policy_config(settings)).to(device)
        if settings.start_from:
            _copy_fitting(find_model(settings.start_from), self.policy)
        self.average = {name: t.clone() for name, t in self.policy.state_dict().items()}
        self.optimisers = make_optimisers(self.policy, settings.weight_decay, settings.muon)

    @property
    def is_finished(self) -> bool:
        """Whether all steps were made."""
        return self.step >= self.settings.total_steps

    def update(self) -> None:
        """Apply the gradients, and move the average of the weights along."""
        stage, inside = self.settings.at(self.step)
        if self.settings.clip_norm:
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.settings.clip_norm)
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = stage.lr_at(inside)
            optimiser.step()
        # A short memory at first: the average must not remember the random start.
        decay = min(self.settings.average, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            for name, tensor in self.policy.state_dict().items():
                if self.settings.average and tensor.is_floating_point():
                    self.average[name].lerp_(tensor, 1 - decay)
                else:
                    self.average[name].copy_(tensor)

    def averaged(self) -> AttentionPolicy:
        """Return the policy with averaged weights, for validation."""
        policy = AttentionPolicy(self.policy.config).to(next(self.policy.parameters()).device)
        policy.load_state_dict(self.average)
        return policy.eval().requires_grad_(False)

    def save(self) -> None:
        """Write settings and state, each whole or not at all."""
        state = {
            "step": self.step,
            "instances": self.instances,
            "seconds": self.seconds,
            "validation_seconds": self.validation_seconds,
            "skipped": self.skipped,
            "policy": self.policy.state_dict(),
            "average": self.average,
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
        }
        save_state(self.folder / STATE, state)

    def save_settings(self) -> None:
        """Write the settings, which a resumed run must share."""
        write_atomically(
            self.folder / SETTINGS, json.dumps(self.settings.to_dict(), indent=1) + "\n"
        )

    def save_model(self, provenance: dict[str, Any]) -> None:
        """Write the averaged policy as a model file."""
        about = {
            "method": self.settings.method,
            "recipe": self.settings.to_dict(),
            "seed": self.settings.seed,
            "steps": self.step,
            "instances": self.instances,
            "hours": round(self.seconds / 3600, 3),
        }
        policy = self.averaged().cpu()
        Model(policy, provenance=about | provenance).save(self.folder / MODEL)

    def load(self) -> None:
        """Go on from the state that `save` wrote."""
        path = self.folder / STATE
        if (state := load_state(path)) is None:
            return
        try:
            self.policy.load_state_dict(state["policy"])
            for optimiser, its_state in zip(self.optimisers, state["optimisers"], strict=True):
                load_optimiser(optimiser, its_state)
            load_tensors(self.average, state["average"])
            self.step, self.seconds, self.skipped = load_progress(state, self.settings.total_steps)
            self.validation_seconds = float(state["validation_seconds"])
            self.instances = int(state["instances"])
        except Exception as error:
            raise wrong_state(path, error) from None


def policy_config(settings: TrainingSettings) -> PolicyConfig:
    """Return the architecture that a method trains."""
    options: dict[str, Any] = {}
    if settings.method == "symnco":
        options = {"mean_query": True, "projection_head": settings.invariance > 0}
    return PolicyConfig.from_dict({"problem": settings.problem} | options | settings.policy)


def open_run(
    folder: Path, settings: TrainingSettings | None, resume: bool, device: torch.device
) -> Run:
    """Start a run in an empty folder, or go on with the one that is there.

    Raises
    ------
    InputError
        If there is a run and it may not be resumed, or none and it should be.
    """
    path = folder / SETTINGS
    if path.exists() and not resume:
        raise InputError("there is a run already: go on with --resume, or choose another.", folder)
    if resume:
        stored = read_settings(path, TrainingSettings.from_dict)
        settings = stored if settings is None else settings
    assert settings is not None
    run = Run(folder, settings, device)
    if resume:
        run.load()
    return run


def _copy_fitting(source: Model, policy: AttentionPolicy) -> None:
    """Start from the tensors of another network, where names and shapes agree."""
    given = source.policy.state_dict()
    own = policy.state_dict()
    for name, tensor in own.items():
        if name in given and given[name].shape == tensor.shape:
            tensor.copy_(given[name])
    policy.load_state_dict(own)
