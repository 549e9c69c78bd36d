"""PyVRP for all four problems.

CVRP as it is; OP with prizes and a limit on the distance; PCTSP with penalties
as prizes, to which a Lagrangian weight times the real prize is added until the
tour collects enough; TSP with one vehicle.
"""

from __future__ import annotations

import numpy as np
from pyvrp import Client, ProblemData, VehicleType
from pyvrp import solve as pyvrp_solve
from pyvrp.stop import MaxRuntime

from metasage.errors import InputError
from metasage.improve.pyvrp_model import cvrp_data, length_unit, problem_data, routes_of
from metasage.problems import Instance, Solution, check
from metasage.problems.cvrp import CvrpInstance
from metasage.problems.metric import Floats
from metasage.problems.op import OpInstance
from metasage.problems.pctsp import PctspInstance
from metasage.problems.tsp import TspInstance

# How often the Lagrangian weight of the PCTSP is halved between its bounds.
_BISECTIONS = 6


def solve(instance: Instance, seconds: float, seed: int) -> Solution:
    """Solve an instance with PyVRP, on one core."""
    if isinstance(instance, TspInstance):
        return _solve_tsp(instance, seconds, seed)
    if isinstance(instance, CvrpInstance):
        return _solve_cvrp(instance, seconds, seed)
    if isinstance(instance, OpInstance):
        return _solve_op(instance, seconds, seed)
    if isinstance(instance, PctspInstance):
        return _solve_pctsp(instance, seconds, seed)
    raise InputError(f"PyVRP does not solve {instance.problem.name} here.")


def _run(
    lengths: Floats, clients: list[Client], vehicle: VehicleType, seconds: float, seed: int
) -> list[list[int]]:
    """Solve and return routes of node indices; the first node is the depot."""
    return _best_routes(problem_data(lengths, clients, vehicle), seconds, seed)


def _best_routes(data: ProblemData, seconds: float, seed: int) -> list[list[int]]:
    result = pyvrp_solve(data, MaxRuntime(seconds), seed=seed, collect_stats=False)
    return routes_of(result.best)


def _solve_tsp(instance: TspInstance, seconds: float, seed: int) -> Solution:
    if instance.num_nodes == 1:
        return Solution([[0]])
    lengths = instance.length_matrix()
    units = np.rint(lengths * length_unit(lengths))
    clients = [Client(node) for node in range(1, instance.num_nodes)]
    routes = _run(units, clients, VehicleType(), seconds, seed)
    return Solution([[0, *routes[0]]])


def _solve_cvrp(instance: CvrpInstance, seconds: float, seed: int) -> Solution:
    return Solution(_best_routes(cvrp_data(instance), seconds, seed))


def _solve_op(instance: OpInstance, seconds: float, seed: int) -> Solution:
    lengths = instance.length_matrix()
    unit = length_unit(lengths)
    # Rounded up, so that the integer tour is no shorter than the real one.
    units = np.ceil(lengths * unit - 1e-9)
    # The tour's length decides only between tours of equal prize.
    least = instance.prize[instance.prize > 0].min(initial=1.0)
    worth = 2.0 * instance.max_length * unit / least
    clients = [
        Client(node, prize=int(instance.prize[node] * worth), required=False)
        for node in range(1, instance.num_nodes)
    ]
    vehicle = VehicleType(max_distance=int(instance.max_length * unit))
    routes = _run(units, clients, vehicle, seconds, seed)
    return Solution(routes[:1] or [[]])


def _solve_pctsp(instance: PctspInstance, seconds: float, seed: int) -> Solution:
    lengths = instance.length_matrix()
    unit = length_unit(lengths)
    units = np.rint(lengths * unit)
    everything = Solution([range(1, instance.num_nodes)])
    best, best_objective = everything, check(instance, everything).objective or np.inf
    low, high = 0.0, 2.0 * float(lengths.max()) / instance.min_prize
    weight, share = 0.0, seconds / (_BISECTIONS + 1)
    for _ in range(_BISECTIONS + 1):
        worth = (instance.penalty + weight * instance.prize) * unit
        clients = [
            Client(node, prize=int(worth[node]), required=False)
            for node in range(1, instance.num_nodes)
        ]
        routes = _run(units, clients, VehicleType(), share, seed)
        found = Solution(routes[:1] or [[]])
        verdict = check(instance, found)
        if verdict.feasible and verdict.objective is not None:
            if verdict.objective < best_objective:
                best, best_objective = found, verdict.objective
            if weight == 0.0:  # enough prize for its own sake: nothing to bargain for
                share = seconds - share
                low = high = 0.0
            high = weight
        else:
            low = weight
        if low == high:
            break
        weight = (low + high) / 2 if high > 0 else weight
    return best
