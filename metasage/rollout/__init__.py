"""Rollout engines: one interface, two implementations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metasage.errors import InputError
from metasage.runtime import resources
from metasage.runtime.forks import require_threads_here

if TYPE_CHECKING:
    from metasage.policies.config import PolicyConfig
    from metasage.rollout.interface import Engine

ENGINES = ("auto", "native", "torch")


def get_engine(name: str, config: PolicyConfig, device: str = "cpu", threads: int = 0) -> Engine:
    """Return an engine that can run a policy.

    Parameters
    ----------
    name
        ``auto`` takes the native engine wherever it can be used.
    config
        Architecture of the policy.
    device
        Where the policy is; the native engine runs on the CPU alone.
    threads
        Threads of the native engine; 0 for as many as torch uses.
    """
    from metasage.rollout.torch_engine import TorchEngine

    require_threads_here()
    if threads < 0:
        raise InputError(f"threads is {threads} and must not be negative.")
    if name not in ENGINES:
        raise InputError(f"engine '{name}' is not one of {', '.join(ENGINES)}.")
    obstacle = native_obstacle(config, device)
    if name == "torch" or (name == "auto" and obstacle is not None):
        return TorchEngine()
    if obstacle is not None:
        raise InputError(f"the native engine cannot be used: {obstacle}.")
    from metasage.rollout.native_engine import NativeEngine

    return NativeEngine(threads)


def native_obstacle(config: PolicyConfig, device: str = "cpu") -> str | None:
    """Say why the native engine cannot run a policy; None if it can."""
    if not resources.is_built():
        return "it was not built, for want of a C++ compiler"
    from metasage.rollout.native_engine import HEADS, PROBLEMS, WIDTHS

    if device != "cpu":
        return f"it runs on the CPU, not on {device}"
    if config.problem not in PROBLEMS:
        return f"it has no masking rule for {config.problem}"
    if config.width not in WIDTHS or config.heads != HEADS:
        return f"it has no kernel for width {config.width} with {config.heads} heads"
    return None
