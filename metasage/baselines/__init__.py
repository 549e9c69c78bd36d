"""Solvers of others and simple heuristics behind one interface."""

from __future__ import annotations

from metasage.baselines.base import Baseline, BaselineError, Outcome
from metasage.errors import InputError

__all__ = ["Baseline", "BaselineError", "Outcome", "all_baselines", "get_baseline"]


def all_baselines() -> dict[str, Baseline]:
    """Return every baseline by name, the strongest first, whether it is installed or not."""
    from metasage.baselines.executables import Compass, Concorde, Lkh3
    from metasage.baselines.filo2 import Filo2
    from metasage.baselines.heuristics import FarthestInsertion, NearestNeighbour, RandomInsertion
    from metasage.baselines.hgs import Hgs
    from metasage.baselines.lkh import Lkh
    from metasage.baselines.ortools import OrTools
    from metasage.baselines.pyvrp import PyVrp

    kinds: tuple[type[Baseline], ...] = (
        Concorde,
        Lkh3,
        Compass,
        Lkh,
        Filo2,
        Hgs,
        PyVrp,
        OrTools,
        FarthestInsertion,
        RandomInsertion,
        NearestNeighbour,
    )
    return {kind.name: kind() for kind in kinds}


def get_baseline(name: str) -> Baseline:
    """Return a baseline by name."""
    baselines = all_baselines()
    if name not in baselines:
        raise InputError(f"baseline '{name}' is not one of {', '.join(baselines)}.")
    return baselines[name]
