"""Prize-collecting TSP: a short tour that collects enough, paying for what it skips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metasage.errors import InputError
from metasage.problems.base import (
    TOLERANCE,
    Arrays,
    Problem,
    by_size,
    closed,
    find_further_route,
    find_repeats,
    find_strays,
)
from metasage.problems.instance import Check, Instance, Solution
from metasage.problems.metric import Floats, Indices
from metasage.problems.op import TOUR_LENGTHS, varied_length
from metasage.problems.rules import Rules

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike
    from torch import Tensor

    from metasage.problems.batch import Batch
    from metasage.problems.instance import Geometry


# Sum of the prizes below which varied ones are scaled up, so that 1 can be collected.
_LEAST_TOTAL = 1.05


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Pctsp(Instance):
    """An instance of the PCTSP.

    Parameters
    ----------
    prize
        Prize of each node, 0 at the depot.
    penalty
        What each node costs if it is not visited, 0 at the depot.
    min_prize
        Least sum of prizes that a tour must collect.
    """

    prize: Floats
    penalty: Floats
    min_prize: float = 1.0

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            prize: ArrayLike,
            penalty: ArrayLike,
            min_prize: float = 1.0,
            **geometry: Unpack[Geometry],
        ) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        self._store("prize", self.prize, (self.num_nodes,))
        if own := float(self.prize[0]):
            raise InputError(f"the depot has a prize of {own:g}, and must have none.")
        self._store("penalty", self.penalty, (self.num_nodes,))
        self._store_number("min_prize", self.min_prize)


class PctspProblem(Problem):
    """Prize-collecting travelling salesman problem (deterministic prizes)."""

    name = "pctsp"
    instance_class = Pctsp
    set_fields = ("depot", "loc", "penalty", "prize")
    num_features = 4
    constants = ("max_length",)

    def _draw(
        self, random: np.random.RandomState, arrays: Arrays, constants: Mapping[str, float]
    ) -> Arrays:
        count, size, _ = arrays["loc"].shape
        # Skipping everything should cost about 1.5 times the expected tour.
        length = constants.get("max_length", by_size(size, TOUR_LENGTHS))
        penalty = random.uniform(size=(count, size)) * (length * 3 / float(size))
        prize = random.uniform(size=(count, size)) * 4 / float(size)
        return {"penalty": penalty, "prize": prize}

    def _vary(self, random: np.random.RandomState, arrays: Arrays) -> Arrays:
        count, size, _ = arrays["loc"].shape
        length = varied_length(random, count, size) / by_size(size, TOUR_LENGTHS)
        # The published prizes add up to 2 on average, of which 1 must be collected.
        prize = arrays["prize"] * (random.uniform(1.2, 5.0, size=(count, 1)) / 2)
        total = prize.sum(axis=1, keepdims=True)
        return {
            "penalty": arrays["penalty"] * length[:, None],
            "prize": prize * np.maximum(_LEAST_TOTAL / total, 1.0),
        }

    def from_arrays(self, arrays: Arrays, name: str = "") -> Pctsp:
        return Pctsp(
            coords=np.concatenate([arrays["depot"][None], arrays["loc"]]),
            prize=np.concatenate([[0.0], arrays["prize"]]),
            penalty=np.concatenate([[0.0], arrays["penalty"]]),
            name=name,
        )

    def load(self, instance: Pctsp, route: Sequence[int]) -> float:
        return float(instance.prize[list(route)].sum())

    def facts(self, instance: Pctsp) -> dict[str, float]:
        return {
            "minimum prize": instance.min_prize,
            "total prize": float(instance.prize.sum()),
            "total penalty": float(instance.penalty.sum()),
        }

    def infeasibility(self, instance: Pctsp) -> str | None:
        total = float(instance.prize.sum())
        if total < instance.min_prize * (1 - TOLERANCE):
            return f"all prizes together are {total:g}, below the minimum {instance.min_prize:g}."
        return None

    def check(self, instance: Pctsp, solution: Solution) -> Check:
        if violation := find_strays(instance, solution):
            return Check(None, violation)
        nodes = [node for route in solution.routes for node in route]
        skipped = np.setdiff1d(np.arange(1, instance.num_nodes), nodes)
        objective = instance.tour_length(closed(nodes)) + float(instance.penalty[skipped].sum())
        violation = find_repeats(instance, solution.routes, "customer") or find_further_route(
            solution.routes
        )
        collected = float(instance.prize[np.unique(nodes).astype(np.int64)].sum())
        if violation is None and collected < instance.min_prize * (1 - TOLERANCE):
            violation = f"the tour collects {collected:g} of at least {instance.min_prize:g}."
        return Check(objective, violation)

    def objectives(self, instance: Pctsp, actions: Indices) -> Floats:
        penalty = np.tile(instance.penalty, (len(actions), 1))
        np.put_along_axis(penalty, actions, 0.0, axis=1)
        return np.asarray(super().objectives(instance, actions) + penalty.sum(axis=1))

    def network_fields(self, instance: Pctsp, scale: float) -> Arrays:
        return {"prize": instance.prize / instance.min_prize, "penalty": instance.penalty / scale}

    def features(self, batch: Batch) -> Tensor:
        return batch.with_columns(batch.fields["prize"], batch.fields["penalty"])

    def cost(self, batch: Batch, actions: Tensor) -> Tensor:
        penalty = batch.fields["penalty"].unsqueeze(1).expand(-1, actions.shape[1], -1)
        paid = penalty.scatter(-1, actions, 0.0).sum(-1)
        return batch.depot_tour_length(actions) + paid.float()

    def rules(self, batch: Batch, rollouts: int) -> PctspRules:
        return PctspRules(batch, rollouts)


class PctspRules(Rules):
    """Any new customer; the depot, which ends the tour, once enough is collected."""

    def __init__(self, batch: Batch, rollouts: int) -> None:
        super().__init__(batch, rollouts)
        self.collected = self.current.double()

    def forbidden(self) -> Tensor:
        forbidden = self.visited | self.done.unsqueeze(-1)
        too_little = self.collected < 1.0 - TOLERANCE
        forbidden[..., 0] = too_little & ~self._all_customers_visited() & ~self.done
        return forbidden

    def scalar(self) -> Tensor:
        return (1.0 - self.collected).clamp(min=0.0).float()

    def step(self, nodes: Tensor) -> None:
        super().step(nodes)
        self.collected = self.collected + self._gather("prize", nodes)
        self.done = self.done | (nodes == 0)
