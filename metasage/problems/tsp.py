"""Travelling salesman problem: the shortest closed tour through all nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metasage.problems.base import (
    Arrays,
    Problem,
    find_further_route,
    find_missing,
    find_repeats,
    find_strays,
)
from metasage.problems.instance import Check, Instance, Solution
from metasage.problems.rules import Rules

if TYPE_CHECKING:
    from typing import Unpack

    from torch import Tensor

    from metasage.problems.batch import Batch
    from metasage.problems.instance import Geometry


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Tsp(Instance):
    """An instance of the TSP: places and a metric, nothing more."""

    if TYPE_CHECKING:

        def __init__(self, **geometry: Unpack[Geometry]) -> None: ...


class TspProblem(Problem):
    """Travelling salesman problem."""

    name = "tsp"
    has_depot = False
    directed = True
    instance_class = Tsp
    set_fields = ("loc",)
    num_features = 2
    scalar_context = False

    def _draw(
        self, random: np.random.RandomState, arrays: Arrays, constants: Mapping[str, float]
    ) -> Arrays:
        return {}

    def from_arrays(self, arrays: Arrays, name: str = "") -> Tsp:
        return Tsp(coords=arrays["loc"], name=name)

    def check(self, instance: Tsp, solution: Solution) -> Check:
        if violation := find_strays(instance, solution):
            return Check(None, violation)
        nodes = np.concatenate([[], *solution.routes]).astype(np.int64)
        violation = (
            find_repeats(instance, solution.routes, "node")
            or find_missing(instance, solution.routes, "node")
            or find_further_route(solution.routes)
        )
        return Check(instance.tour_length(nodes), violation)

    def network_fields(self, instance: Tsp, scale: float) -> Arrays:
        return {}

    def features(self, batch: Batch) -> Tensor:
        return batch.coords

    def cost(self, batch: Batch, actions: Tensor) -> Tensor:
        return batch.tour_length(actions)

    def rules(self, batch: Batch, rollouts: int) -> TspRules:
        return TspRules(batch, rollouts)


class TspRules(Rules):
    """Every node once; before the first step there is no current node."""

    def __init__(self, batch: Batch, rollouts: int) -> None:
        super().__init__(batch, rollouts)
        self.current = self.current - 1

    def forbidden(self) -> Tensor:
        # A finished tour waits at its last node.
        here = self.current.clamp(min=0).unsqueeze(-1)
        return self.visited.scatter(-1, here, self.visited.gather(-1, here) & ~self.done[..., None])

    def step(self, nodes: Tensor) -> None:
        super().step(nodes)
        self.done = self.visited.all(-1)
