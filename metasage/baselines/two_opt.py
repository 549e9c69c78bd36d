"""2-opt: a tour without crossings."""

from __future__ import annotations

import numpy as np

from metasage.problems import Instance, Solution

# Gains below this share of the longest edge are rounding.
_LEAST_GAIN = 1e-9


def two_opt(instance: Instance, solution: Solution) -> Solution:
    """Reverse parts of a single tour while that makes it shorter.

    The time of a pass grows with the square of the tour's size; it makes the best
    reversal behind each node. Where lengths differ by direction, a reversal changes more
    than its ends, and the tour stays as it is.
    """
    (route,) = solution.routes
    tour = np.array([0, *route] if instance.problem.has_depot else route)
    if len(tour) < 4 or instance.is_directed:
        return solution
    lengths = instance.lengths(tour[:, None], tour[None, :])
    order = np.arange(len(tour))
    least = _LEAST_GAIN * float(lengths.max())
    improved = True
    while improved:
        improved = False
        for first in range(len(order) - 2):
            here, then = order[first], order[first + 1]
            ends, afters = order[first + 2 :], np.append(order[first + 3 :], order[0])
            gains = (
                lengths[here, then]
                + lengths[ends, afters]
                - lengths[here, ends]
                - lengths[then, afters]
            )
            best = int(gains.argmax())
            if gains[best] > least:
                order[first + 1 : first + best + 3] = order[first + 1 : first + best + 3][::-1]
                improved = True
    nodes = tour[order]
    return Solution([nodes[1:] if instance.problem.has_depot else nodes])
