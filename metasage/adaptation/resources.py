"""What an instance takes of a machine: memory, time, threads, devices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from metasage.errors import InputError, TooLarge
from metasage.policies.policy import AttentionPolicy
from metasage.problems import Instance
from metasage.runtime.timing import DISTANCE_SECONDS, ENCODER_SPEED, LENGTH_SECONDS


def encoding_seconds(policy: AttentionPolicy, instance: Instance) -> float:
    """Estimate the time of the encoder, which cannot be interrupted."""
    nodes, width, layers = instance.num_nodes, policy.config.width, policy.config.layers
    operations = layers * (24.0 * nodes * width**2 + 4.0 * nodes**2 * width)
    of_pair = DISTANCE_SECONDS + (LENGTH_SECONDS if instance.problem.keeps_lengths else 0.0)
    return operations / ENCODER_SPEED + of_pair * nodes**2


def require_device(name: str) -> None:
    """Complain about a device that torch does not know or does not have."""
    try:
        torch.zeros(1, device=name).item()  # some devices are there and hold no numbers
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(f"device '{name}' is not one that torch can use here.") from error


def require_memory(instance: Instance, copies: int, rollouts: int, memory: float) -> None:
    """Refuse an instance or rollouts that cannot fit, before anything is allocated."""
    nodes = instance.num_nodes
    # What a rollout leaves: its nodes, in two kinds of numbers, start, seed, cost and likelihood.
    kept = copies * rollouts * (24.0 * nodes + 64.0)
    if kept > memory:
        raise TooLarge(
            f"{rollouts} rollouts of {nodes} nodes need about {kept / 2**30:.2g} GiB of memory, "
            f"and {memory / 2**30:.2g} GiB may be used."
        )
    # Embeddings and what the encoder and the decoder make of them: some two dozen
    # arrays of the width of a network.
    needed = copies * nodes * 4.0 * 128 * 24
    if instance.problem.keeps_lengths:
        needed += copies * 24.0 * nodes * nodes
    if needed > memory:
        raise TooLarge(
            f"{instance.size} nodes need about {needed / 2**30:.2g} GiB of memory, "
            f"and {memory / 2**30:.2g} GiB may be used."
        )


def is_want_of_memory(error: RuntimeError | MemoryError) -> bool:
    """Whether an error says that there is no memory; torch has no class of its own for the CPU."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return "DefaultCPUAllocator" in str(error)


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on one thread: its sums would else depend on the number of threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
