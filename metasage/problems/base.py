"""The interface that a problem fills, and the registry of the problems."""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from metasage.errors import InfeasibleError, InputError
from metasage.numbers import kind_of, require_count
from metasage.problems.instance import Check, Instance, Solution
from metasage.problems.layout import Layout, points
from metasage.problems.metric import Floats, Indices

if TYPE_CHECKING:
    from torch import Tensor

    from metasage.problems.batch import Batch
    from metasage.problems.rules import Rules

# Relative slack for sums of numbers that are not integral.
TOLERANCE = 1e-9

# Of a generated set; more would be a slip of the keyboard.
_MOST_NODES = 10**8

Arrays = dict[str, np.ndarray[Any, np.dtype[Any]]]

_REGISTRY: dict[str, Problem] = {}


class Problem(ABC):
    """A routing problem: everything that tells it from the others.

    A subclass in a module of this package is found without being listed
    anywhere; one defined elsewhere registers itself when it is imported.
    """

    name: ClassVar[str]
    sense: ClassVar[Literal["min", "max"]] = "min"
    has_depot: ClassVar[bool] = True
    single_tour: ClassVar[bool] = True
    """Whether a solution is one route."""
    directed: ClassVar[bool] = False
    """Whether an edge may have different lengths in its two directions."""
    instance_class: ClassVar[type[Instance]]
    set_fields: ClassVar[tuple[str, ...]]
    """Arrays that make up a set of instances; together they tell the problem."""
    keeps_lengths: ClassVar[bool] = False
    """Whether the rules need the lengths of all edges."""
    constants: ClassVar[tuple[str, ...]] = ()
    """Constants of the generator that a user may set."""
    num_features: ClassVar[int]
    """Number of features of a node that is not the depot."""
    scalar_context: ClassVar[bool] = True
    """Whether the rules feed a number (load, prize, length left) to the query."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        problem = cls()
        cls.instance_class.problem = problem
        _REGISTRY[cls.name] = problem

    # -- instances ---------------------------------------------------------

    def generate(
        self,
        size: int,
        count: int,
        seed: int,
        layout: Layout = "uniform",
        varied: bool = False,
        **constants: float,
    ) -> Arrays:
        """Draw the arrays of a set, as the published recipe draws them.

        Parameters
        ----------
        size
            Number of nodes to be visited.
        count
            Number of instances. It matters: the recipe draws whole arrays one
            after another, so a smaller set is not the start of a larger one
            (but for the TSP).
        seed
            Seed of numpy's legacy generator.
        layout
            How the nodes lie in the unit square.
        varied
            Whether the constants are drawn for each instance, after all that the
            recipe draws.
        constants
            Constants of the problem in place of the published ones.
        """
        require_count("size", size)
        require_count("count", count)
        if size * count > _MOST_NODES:
            raise InputError(f"a set has at most {_MOST_NODES} nodes in all, not {count} x {size}.")
        require_count("seed", seed, least=0)
        if seed >= 2**32:
            raise InputError(f"seed is {seed} and must lie between 0 and 4294967295.")
        for name, constant in constants.items():
            if name not in self.constants:
                raise InputError(f"{name.replace('_', '-')} is not a constant of {self.name}.")
            if not (np.isfinite(constant) and constant > 0):
                raise InputError(f"{name.replace('_', '-')} is {constant:g} and must be positive.")
        if varied and constants:
            raise InputError(f"{next(iter(constants)).replace('_', '-')} is given, and not varied.")
        random = np.random.RandomState(seed)
        arrays: Arrays = {}
        if self.has_depot:
            arrays["depot"] = random.uniform(size=(count, 2))
        arrays["loc"] = points(random, count, size, layout)
        arrays |= self._draw(random, arrays, constants)
        return arrays | (self._vary(random, arrays) if varied else {})

    @abstractmethod
    def _draw(
        self, random: np.random.RandomState, arrays: Arrays, constants: Mapping[str, float]
    ) -> Arrays:
        """Draw what the problem needs beside the places, and add its constants."""

    def _vary(self, random: np.random.RandomState, arrays: Arrays) -> Arrays:
        """Draw constants for each instance, and what depends on them."""
        return {}

    @abstractmethod
    def from_arrays(self, arrays: Arrays, name: str = "") -> Instance:
        """Build one instance from the rows of a set's arrays."""

    def facts(self, instance: Any) -> dict[str, float]:
        """Return the numbers that tell a user what kind of instance this is."""
        return {}

    def infeasibility(self, instance: Any) -> str | None:
        """Say why an instance has no feasible solution; None if it has one."""
        return None

    # -- solutions ---------------------------------------------------------

    @abstractmethod
    def check(self, instance: Any, solution: Solution) -> Check:
        """Measure a solution on the original data and name its first violation."""

    @property
    def sign(self) -> Literal[1, -1]:
        """1 where smaller objectives are better, -1 where larger ones are."""
        return 1 if self.sense == "min" else -1

    def rank(self, verdict: Check) -> tuple[bool, float]:
        """Return what puts solutions in order, the best one first: feasible before others."""
        objective = verdict.objective
        return not verdict.feasible, np.inf if objective is None else self.sign * objective

    def gap(self, objective: float, reference: float) -> float:
        """Return how much worse an objective is than a reference, as a share of it."""
        return self.sign * (objective - reference) / abs(reference)

    def load(self, instance: Any, route: Sequence[int]) -> float | None:
        """Return what a route carries or collects; None where routes carry nothing."""
        return None

    def to_actions(self, solution: Solution) -> list[int]:
        """Turn a solution into the steps of a rollout that builds it."""
        nodes = [node for route in solution.routes for node in route]
        return [*nodes, 0] if self.has_depot else nodes

    def to_solution(self, actions: Iterable[int]) -> Solution:
        """Turn the steps of a rollout into a solution."""
        nodes = [int(node) for node in actions]
        return Solution([[node for node in nodes if node != 0 or not self.has_depot]])

    def objectives(self, instance: Any, actions: Indices) -> Floats:
        """Objectives of feasible rollouts on the original data.

        Parameters
        ----------
        instance
            The instance.
        actions
            Steps of shape (rollouts, steps), padded with the depot.
        """
        nodes = np.pad(actions, ((0, 0), (int(self.has_depot), 0)))
        return np.asarray(instance.lengths(nodes, np.roll(nodes, -1, axis=1)).sum(axis=1))

    # -- what the network sees ----------------------------------------------

    def why_no_network(self, instance: Any) -> str | None:
        """Say, as a sentence without its point, why no network solves such an instance."""
        if instance.is_directed:
            return "lengths that differ by direction are beyond the networks"
        if instance.coords is None:
            return f"{instance.title} has no coordinates, which a network needs"
        return None

    @abstractmethod
    def network_fields(self, instance: Any, scale: float) -> Arrays:
        """Return the fields that rules, features and cost need, in network units.

        Parameters
        ----------
        instance
            An instance of this problem.
        scale
            Length, in original units, of the side of the unit square.
        """

    @abstractmethod
    def features(self, batch: Batch) -> Tensor:
        """Node features of shape (instances, nodes, features); coordinates come first."""

    @abstractmethod
    def rules(self, batch: Batch, rollouts: int) -> Rules:
        """Start the state of all rollouts of a batch."""

    @abstractmethod
    def cost(self, batch: Batch, actions: Tensor) -> Tensor:
        """Cost of rollouts in network units, always to be minimised.

        Parameters
        ----------
        batch
            The instances.
        actions
            Steps of shape (instances, rollouts, steps), padded with the depot.
        """


def get_problem(name: str) -> Problem:
    """Return a problem by name, or one of the user's by ``module:Class``."""
    problems = all_problems()
    if ":" in name:
        return _of_user(name)
    if name not in problems:
        raise InputError(f"problem '{name}' is not one of {', '.join(problems)}.")
    return problems[name]


def _of_user(name: str) -> Problem:
    """Find a problem that is not ours, by ``module:Class``."""
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"problem '{name}' cannot be imported: {error}.") from None
    if not (isinstance(found, type) and issubclass(found, Problem)):
        raise InputError(f"'{name}' is not a subclass of metasage.Problem.")
    return _REGISTRY[found.name]


def all_problems() -> dict[str, Problem]:
    """Return every known problem by name."""
    import metasage.problems as package

    for module in pkgutil.iter_modules(package.__path__, prefix=package.__name__ + "."):
        importlib.import_module(module.name)
    return dict(sorted(_REGISTRY.items()))


def check(instance: Instance, solution: Solution) -> Check:
    """Measure a solution on the original data, independently of any network.

    Parameters
    ----------
    instance
        The instance.
    solution
        Routes through its nodes.

    Returns
    -------
    Check
        Objective, and the first violation in one sentence if there is one.
    """
    require_instance(instance)
    require_solution(solution)
    return instance.problem.check(instance, solution)


def require_instance(instance: object) -> None:
    """Complain about what is not an instance, such as the name of a file."""
    if not isinstance(instance, Instance):
        raise InputError(
            "an instance was expected, such as metasage.read makes of a file, and this is "
            f"{kind_of(instance)}."
        )


def require_solution(solution: object) -> None:
    """Complain about what is not a solution, such as a list of routes."""
    if not isinstance(solution, Solution):
        raise InputError(f"a metasage.Solution was expected, and this is {kind_of(solution)}.")


def require_nodes(instance: Instance, solution: Solution) -> None:
    """Complain about a solution that names nodes which the instance does not have."""
    if (stray := find_strays(instance, solution)) is not None:
        raise InputError(f"the solution is not one of {instance.title}: {stray}")


def require_feasible(instance: Instance) -> None:
    """Complain about an instance that no solution can fit."""
    if (reason := instance.problem.infeasibility(instance)) is not None:
        raise InfeasibleError(reason)


def find_strays(instance: Instance, solution: Solution) -> str | None:
    """Name a node of a solution that the instance does not have."""
    last = instance.num_nodes - 1
    for route in solution.routes:
        if not route or (min(route) > 0 and max(route) <= last):
            continue
        for node in route:
            if not 0 <= node <= last:
                return f"node {node} does not exist: the instance has {last + 1} nodes."
            if node == 0 and instance.problem.has_depot:
                return "the depot is visited inside a route."
    return None


def find_repeats(instance: Instance, routes: Sequence[Sequence[int]], noun: str) -> str | None:
    """Name a node that is visited more than once."""
    nodes, counts = np.unique([node for route in routes for node in route], return_counts=True)
    if (counts > 1).any():
        worst = int(np.argmax(counts > 1))
        times = "twice" if counts[worst] == 2 else f"{counts[worst]} times"
        return f"{noun} {instance.labels[nodes[worst]]} visited {times}."
    return None


def find_further_route(routes: Sequence[Sequence[int]]) -> str | None:
    """Say that there is more than one route where there should be one."""
    return f"a tour is one route, and there are {len(routes)}." if len(routes) > 1 else None


def find_missing(instance: Instance, routes: Sequence[Sequence[int]], noun: str) -> str | None:
    """Name a node that is not visited at all."""
    seen = np.zeros(instance.num_nodes, dtype=bool)
    seen[: int(instance.problem.has_depot)] = True
    seen[[node for route in routes for node in route]] = True
    if seen.all():
        return None
    missing = int(np.argmin(seen))
    others = int((~seen).sum()) - 1
    return f"{noun} {instance.labels[missing]} not visited" + (
        "." if not others else f", nor {others} more."
    )


def closed(route: Sequence[int]) -> Any:
    """Return a route with the depot at its head."""
    return np.array([0, *route], dtype=np.int64)


def by_size(size: int, table: dict[int, float]) -> float:
    """Look a constant up by size, interpolating between the published sizes."""
    sizes: Floats = np.array(list(table), dtype=np.float64)
    return float(np.interp(size, sizes, np.array(list(table.values()))))
