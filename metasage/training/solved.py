"""Instances with solutions of local search, a shard at a time: made, written and read."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metasage.errors import InputError
from metasage.improve import improve_all
from metasage.io import write_atomically
from metasage.problems import check, get_problem
from metasage.problems.layout import Layout
from metasage.problems.sets import InstanceSet

Actions = NDArray[np.int32]

# Nodes of a shard: a few steps' worth, and a second or so of local search.
SHARD_NODES = 12_800
_ACTIONS = "actions"


@dataclass(frozen=True)
class Kind:
    """What the instances of an endless sequence have in common.

    Parameters
    ----------
    problem
        Name of the problem.
    size
        Number of nodes to visit.
    layout
        How they lie in the plane.
    varied
        Whether constants differ from instance to instance.
    kicks
        Kicks of local search for each node.
    """

    problem: str
    size: int
    layout: Layout
    varied: bool
    kicks: float

    @property
    def shard_length(self) -> int:
        """Number of instances of a shard."""
        return max(1, SHARD_NODES // self.size)


@dataclass(frozen=True)
class Shard:
    """A piece of the sequence of a kind; its content depends on nothing else.

    Parameters
    ----------
    kind
        What the instances have in common.
    index
        Number of the piece.
    """

    kind: Kind
    index: int

    @property
    def name(self) -> str:
        """Name of its file."""
        kind = self.kind
        layout = kind.layout + ("-varied" if kind.varied else "")
        return f"{kind.problem}-{kind.size}-{layout}-{kind.kicks:g}-{self.index:06d}.npz"

    def seeds(self, count: int) -> list[int]:
        """Return numbers that only this shard has."""
        sequence = np.random.SeedSequence(list(self.name.encode()))
        return [int(seed) for seed in sequence.generate_state(count)]


@dataclass(frozen=True, eq=False)
class Solved:
    """The content of a shard.

    Parameters
    ----------
    instances
        The instances.
    actions
        Steps that build the solution of each, padded with 0.
    """

    instances: InstanceSet
    actions: Actions


class Cancelled(Exception):  # noqa: N818 - not an error, but an answer
    """Nobody waits for the shard any more."""


def make_shard(shard: Shard, cancelled: Callable[[], bool] = lambda: False) -> Solved:
    """Draw the instances of a shard, and solve them on one thread.

    Raises
    ------
    Cancelled
        If that is asked for between two instances.
    """
    kind = shard.kind
    first, *seeds = shard.seeds(1 + kind.shard_length)
    instances = _feasible_instances(kind, first)
    kicks = round(kind.kicks * kind.size)
    rows = []
    found = improve_all(instances, kicks=kicks, seeds=seeds, threads=1)
    for instance, solution in zip(instances, found, strict=True):
        if cancelled():
            raise Cancelled
        if violation := check(instance, solution).violation:
            raise InputError(f"local search's solution is infeasible: {violation}")
        rows.append(instance.problem.to_actions(solution))
    actions = np.zeros((len(rows), max(map(len, rows))), dtype=np.int32)
    for row, steps in zip(actions, rows, strict=True):
        row[: len(steps)] = steps
    return Solved(instances, actions)


def save_shard(path: Path, solved: Solved) -> None:
    """Write a shard, whole or not at all."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {**solved.instances.arrays, _ACTIONS: solved.actions}
    np.savez_compressed(buffer, **arrays)
    write_atomically(path, buffer.getvalue())


def load_shard(path: Path, shard: Shard) -> Solved | None:
    """Read a shard; None if there is none, or if it is damaged."""
    kind = shard.kind
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        actions = arrays.pop(_ACTIONS)
        instances = InstanceSet(get_problem(kind.problem), arrays)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, InputError):
        return None
    if len(instances) != kind.shard_length or instances.size != kind.size:
        return None
    if actions.dtype != np.int32 or actions.ndim != 2 or len(actions) != len(instances):
        return None
    last = kind.size - 1 + int(instances.problem.has_depot)
    fits = actions.size and actions.min() >= 0 and actions.max() <= last
    return Solved(instances, actions) if fits else None


def _feasible_instances(kind: Kind, seed: int) -> InstanceSet:
    """Draw instances; those without a solution, as small PCTSPs may be, once more."""
    problem = get_problem(kind.problem)
    arrays = problem.generate(kind.size, kind.shard_length, seed, kind.layout, kind.varied)
    bad = list(range(kind.shard_length))
    while True:
        instances = InstanceSet(problem, arrays)
        bad = [i for i in bad if problem.infeasibility(instances[i]) is not None]
        if not bad:
            return instances
        seed = (seed + 1) % 2**32
        others = problem.generate(kind.size, kind.shard_length, seed, kind.layout, kind.varied)
        for name, array in arrays.items():
            array[bad] = others[name][bad]
