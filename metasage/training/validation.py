"""How good a policy is on instances that training never sees."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import torch
from torch import Tensor

from metasage.errors import NotFinite
from metasage.policies.policy import AttentionPolicy
from metasage.policies.symmetry import augment
from metasage.problems.batch import Batch
from metasage.problems.layout import Layout
from metasage.problems.sets import generate
from metasage.rollout.interface import DeadlineReached, DecoderInputs, Engine, Request
from metasage.rollout.starts import likeliest_starts, reachable_starts
from metasage.runtime.interrupts import ENDLESS, Patience
from metasage.training.settings import TrainingSettings
from metasage.training.step import training_decoding

SEED = 4321
_CHUNK = 16


class Validator:
    """Validates a policy at all sizes of its settings, if the time suffices.

    Parameters
    ----------
    settings
        Problem, sizes and counts.
    engine
        The engine.
    seconds
        What a validation takes, if it is known; measured anew by each one.
    """

    def __init__(self, settings: TrainingSettings, engine: Engine, seconds: float = 0.0) -> None:
        self.settings = settings
        self.engine = engine
        self.seconds = seconds

    def __call__(self, policy: AttentionPolicy, seconds: float = math.inf) -> dict[str, Any] | None:
        """Return what a log or a model says of a policy; None if that takes longer.

        Parameters
        ----------
        policy
            The policy, in evaluation mode.
        seconds
            How long it may take.
        """
        began = time.monotonic()
        counts = {size: self._count(size) for size in self.settings.validation_sizes}
        found: dict[int, float] = {}
        done = 0.0
        try:
            for size, count in counts.items():
                costs = []
                for part in _costs(
                    policy, self.engine, size, count, patience=Patience(began + seconds)
                ):
                    costs.append(part)
                    done += len(part) * _work(size)
                found[size] = _mean_objective(costs)
        except DeadlineReached:
            return None
        except NotFinite:  # the run says so itself, step by step
            return self.unknown()
        finally:
            total = sum(count * _work(size) for size, count in counts.items())
            self.seconds = (time.monotonic() - began) * total / max(done, _work(min(counts)))
        return self._row(found)

    def unknown(self) -> dict[str, Any]:
        """Return the same of a policy that there was no time to validate."""
        return self._row({})

    def _count(self, size: int) -> int:
        known = references(self.settings.problem, size)
        return self.settings.validation_count if known is None else len(known)

    def _row(self, found: dict[int, float]) -> dict[str, Any]:
        problem, (first, *others) = self.settings.problem, self.settings.validation_sizes
        gaps = {size: gap(problem, size, self._count(size), found[size]) for size in found}
        row: dict[str, Any] = {
            "validation": found.get(first),
            "validation_size": first,
            "gap": gaps.get(first),
        }
        if others and found:
            row["validations"] = {str(size): objective for size, objective in found.items()}
            row["gaps"] = {str(size): distance for size, distance in gaps.items()}
        return row


def validate(
    policy: AttentionPolicy,
    engine: Engine,
    size: int,
    count: int,
    copies: int = 1,
    layout: Layout = "uniform",
) -> float:
    """Mean objective of greedy rollouts from all starts, best of each instance.

    Parameters
    ----------
    policy
        The policy, in evaluation mode.
    engine
        The engine.
    size, count
        Size and number of instances, of a seed of their own.
    copies
        Number of symmetric copies of each instance.
    layout
        How their nodes lie.
    """
    return _mean_objective(list(_costs(policy, engine, size, count, copies, layout)))


def _costs(
    policy: AttentionPolicy,
    engine: Engine,
    size: int,
    count: int,
    copies: int = 1,
    layout: Layout = "uniform",
    patience: Patience = ENDLESS,
) -> Iterator[Tensor]:
    """Yield the best cost of each instance, some instances at a time."""
    instances = list(generate(policy.config.problem, size, count, SEED, layout))
    for first in range(0, count, _CHUNK):
        batch = policy.view(instances[first : first + _CHUNK], next(policy.parameters()).device)
        several = augment(batch, copies)
        decoding = replace(training_decoding(policy.config, batch.num_nodes), greedy=True)
        with torch.no_grad():
            inputs = policy(several)
            request = Request(
                size,
                torch.zeros(several.num_instances, dtype=torch.long),
                starts=_all_starts(policy, several, inputs, size),
                patience=patience,
            )
            rollouts = engine.rollout(several, inputs, decoding, request)
        yield rollouts.cost.min(dim=1).values.view(copies, -1).min(dim=0).values


def _mean_objective(costs: list[Tensor]) -> float:
    return abs(float(torch.cat(costs).mean()))


def _work(size: int) -> float:
    """Work of an instance: rollouts from all nodes, of so many steps over so many nodes."""
    return float(size**3)


def _all_starts(policy: AttentionPolicy, batch: Batch, inputs: DecoderInputs, size: int) -> Tensor:
    if policy.config.starts == "free":
        return likeliest_starts(batch, inputs, size)
    first = int(policy.config.rules.has_depot)
    nodes = torch.arange(first, first + size, device=batch.device)
    return reachable_starts(batch, nodes.expand(batch.num_instances, -1))


@cache
def references(problem: str, size: int, layout: Layout = "uniform") -> list[float] | None:
    """Objectives of a strong solver on the validation instances, if they are known."""
    known = json.loads((files("metasage.training") / "references.json").read_text())
    row: list[float] | None = known["values"].get(reference_name(problem, size, layout))
    return row


def reference_name(problem: str, size: int, layout: Layout) -> str:
    """Return the name of a set of validation instances among the references."""
    return f"{problem}-{size}" + ("" if layout == "uniform" else f"-{layout}")


def reference(problem: str, size: int, count: int, layout: Layout = "uniform") -> float | None:
    """Mean objective of a strong solver on the validation instances, if it is known."""
    row = references(problem, size, layout)
    # A set of another count is another set.
    return None if row is None or len(row) != count else sum(row) / count


def gap(
    problem: str, size: int, count: int, objective: float, layout: Layout = "uniform"
) -> float | None:
    """Relative distance to the reference; positive is worse."""
    best = reference(problem, size, count, layout)
    if best is None:
        return None
    return (best - objective) / best if problem == "op" else (objective - best) / best
