"""Orienteering problem: the most prize on a tour of bounded length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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
from metasage.problems.rules import Rules

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike
    from torch import Tensor

    from metasage.problems.batch import Batch
    from metasage.problems.instance import Geometry

# Kool et al. (2019) up to 100, then the paper's: about half an optimal tour.
TOUR_LENGTHS: dict[int, float] = {20: 2, 50: 3, 100: 4, 200: 4, 400: 4, 500: 5, 1000: 6}
# Shares of the instances with such prizes, where they vary; the others' are uniform.
_BY_DISTANCE, _EQUAL = 0.6, 0.2


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Op(Instance):
    """An instance of the OP.

    Parameters
    ----------
    prize
        Prize of each node. The depot's own counts in every solution.
    max_length
        Greatest length of the closed tour.
    """

    prize: Floats
    max_length: float

    if TYPE_CHECKING:

        def __init__(
            self, *, prize: ArrayLike, max_length: float, **geometry: Unpack[Geometry]
        ) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        self._store("prize", self.prize, (self.num_nodes,))
        self._store_number("max_length", self.max_length)

    @property
    def least_prize(self) -> float:
        """The smallest prize that is one, or 1 where nothing is worth anything."""
        worthy = self.prize[self.prize > 0]
        return float(worthy.min()) if worthy.size else 1.0


class OpProblem(Problem):
    """Orienteering problem, with prizes that grow with the distance to the depot."""

    name = "op"
    sense = "max"
    keeps_lengths = True
    instance_class = Op
    set_fields = ("depot", "loc", "prize", "max_length")
    num_features = 3
    constants = ("max_length",)

    def _draw(
        self, random: np.random.RandomState, arrays: Arrays, constants: Mapping[str, float]
    ) -> Arrays:
        count, size, _ = arrays["loc"].shape
        distance = np.linalg.norm(arrays["depot"][:, None, :] - arrays["loc"], axis=-1)
        share = distance / distance.max(axis=-1, keepdims=True)
        length = constants.get("max_length", by_size(size, TOUR_LENGTHS))
        return {
            "prize": (1 + (share * 99).astype(int)) / 100.0,
            "max_length": np.full(count, length),
        }

    def _vary(self, random: np.random.RandomState, arrays: Arrays) -> Arrays:
        count, size, _ = arrays["loc"].shape
        length = varied_length(random, count, size)
        chance = random.uniform(size=(count, 1))
        uniform = random.randint(1, 101, size=(count, size)) / 100.0
        others = np.where(chance < _BY_DISTANCE + _EQUAL, 1.0, uniform)
        prize = np.where(chance < _BY_DISTANCE, arrays["prize"], others)
        return {"prize": prize, "max_length": length}

    def from_arrays(self, arrays: Arrays, name: str = "") -> Op:
        return Op(
            coords=np.concatenate([arrays["depot"][None], arrays["loc"]]),
            prize=np.concatenate([[0.0], arrays["prize"]]),
            max_length=float(arrays["max_length"]),
            name=name,
        )

    def load(self, instance: Op, route: Sequence[int]) -> float:
        return float(instance.prize[list(route)].sum())

    def facts(self, instance: Op) -> dict[str, float]:
        home = instance.lengths(
            np.zeros(instance.num_nodes, dtype=np.int64), np.arange(instance.num_nodes)
        )
        near = 2 * home <= instance.max_length * (1 + TOLERANCE)
        return {
            "maximum length": instance.max_length,
            "total prize": float(instance.prize.sum()),
            "customers within reach": float(near[1:].sum()),
        }

    def check(self, instance: Op, solution: Solution) -> Check:
        if violation := find_strays(instance, solution):
            return Check(None, violation)
        nodes = [node for route in solution.routes for node in route]
        objective = float(instance.prize[np.unique([0, *nodes])].sum())
        violation = find_repeats(instance, solution.routes, "customer") or find_further_route(
            solution.routes
        )
        length = instance.tour_length(closed(nodes))
        if violation is None and length > instance.max_length * (1 + TOLERANCE):
            violation = f"the tour is {length:g} long, of at most {instance.max_length:g}."
        return Check(objective, violation)

    def objectives(self, instance: Op, actions: Indices) -> Floats:
        customers = np.where(actions == 0, 0.0, instance.prize[actions])
        return np.asarray(instance.prize[0] + customers.sum(axis=1))

    def network_fields(self, instance: Op, scale: float) -> Arrays:
        largest = float(instance.prize[1:].max(initial=0.0)) or 1.0
        return {
            "prize": instance.prize / largest,
            # Lengths in original units: rounding decides what is feasible.
            "lengths": instance.length_matrix(),
            "max_length": np.asarray(instance.max_length),
            "scale": np.asarray(scale),
        }

    def features(self, batch: Batch) -> Tensor:
        return batch.with_columns(batch.fields["prize"])

    def cost(self, batch: Batch, actions: Tensor) -> Tensor:
        prize = batch.fields["prize"].unsqueeze(1).expand(-1, actions.shape[1], -1)
        # Padding repeats the depot, whose prize is a constant: left out.
        return -prize.gather(-1, actions).where(actions != 0, 0.0).sum(-1).float()

    def rules(self, batch: Batch, rollouts: int) -> OpRules:
        return OpRules(batch, rollouts)


class OpRules(Rules):
    """Any new customer from which the way home is not too long; the depot ends the tour."""

    def __init__(self, batch: Batch, rollouts: int) -> None:
        super().__init__(batch, rollouts)
        self.length = self.current.double()
        self.limit = batch.fields["max_length"].unsqueeze(-1)

    def forbidden(self) -> Tensor:
        lengths = self.batch.fields["lengths"]
        home = lengths[:, 0].unsqueeze(1)
        ahead = self.length.unsqueeze(-1) + self._row(self.current) + home
        too_long = ahead > self.limit.unsqueeze(-1) * (1 + TOLERANCE)
        forbidden = self.visited | too_long | self.done.unsqueeze(-1)
        forbidden[..., 0] = False
        return forbidden

    def scalar(self) -> Tensor:
        left = (self.limit - self.length) / self.batch.fields["scale"].unsqueeze(-1)
        return left.float()

    def step(self, nodes: Tensor) -> None:
        self.length = self.length + self._row(self.current).gather(-1, nodes[..., None])[..., 0]
        super().step(nodes)
        self.done = self.done | (nodes == 0)

    def _row(self, nodes: Tensor) -> Tensor:
        lengths = self.batch.fields["lengths"]
        return lengths.gather(1, nodes.unsqueeze(-1).expand(-1, -1, lengths.shape[-1]))


def varied_length(random: np.random.RandomState, count: int, size: int) -> Floats:
    """Draw lengths between a fifth and two thirds of an optimal tour through all nodes.

    Such a tour is about ``0.7124 sqrt(size)`` long in the unit square (Johnson and
    McGeoch 1996).
    """
    return np.asarray(random.uniform(0.2, 0.65, size=count) * 0.7124 * np.sqrt(size))
