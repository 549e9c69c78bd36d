"""How many rollouts, over how many nodes, an instance gets in the time there is."""

from __future__ import annotations

from dataclasses import replace

from metasage.adaptation.method import Method
from metasage.policies.policy import AttentionPolicy
from metasage.problems import Instance
from metasage.runtime.timing import LEAST_ITERATIONS, NEAR_STEP_SECONDS, STEP_SECONDS

# Fewer rollouts leave no baseline.
_LEAST_ROLLOUTS = 32

# Networks lose much when they see less.
_LEAST_NEIGHBOURS = 50


def within_time(
    method: Method, instance: Instance, policy: AttentionPolicy, seconds: float, threads: int
) -> Method:
    """Fill in the rollouts and neighbours that were left open, so that iterations fit in.

    Rollouts are at most as many as there are nodes. Where even few of them would
    take too long, they look at near nodes alone.

    Parameters
    ----------
    method
        Settings of the method.
    instance
        The instance.
    policy
        The network, for its width and the nodes that it looks at.
    seconds
        Time that the network has.
    threads
        Threads of the engine.
    """
    size = instance.size
    if method.rollouts is not None or size <= _LEAST_ROLLOUTS:
        return method
    # All iterations, in steps of one rollout times nodes that a step looks at.
    rounds = (LEAST_ITERATIONS if method.repeats else 1) * method.augment
    speed = threads / (policy.config.width * rounds)
    nearest = method.neighbours or policy.config.nearest(instance.num_nodes)
    seen = size if nearest is None else min(size, nearest)
    cost = STEP_SECONDS if nearest is None else NEAR_STEP_SECONDS
    affordable = int(seconds * speed / (cost * size * seen))
    if affordable >= _LEAST_ROLLOUTS or nearest is not None:
        return replace(method, rollouts=max(_LEAST_ROLLOUTS, min(size, affordable)))
    near = int(seconds * speed / (NEAR_STEP_SECONDS * size * _LEAST_ROLLOUTS))
    if near < size:
        method = replace(method, neighbours=max(_LEAST_NEIGHBOURS, near))
    return replace(method, rollouts=_LEAST_ROLLOUTS)
