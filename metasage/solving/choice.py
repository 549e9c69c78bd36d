"""Who solves an instance: the network, local search, or both; no torch in here."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metasage.errors import InputError
from metasage.improve import why_no_search
from metasage.improve.tiny import MOST_NODES
from metasage.numbers import kind_of
from metasage.problems import Instance
from metasage.runtime.resources import is_loaded
from metasage.runtime.timing import LEAST_FOR_NETWORK
from metasage.solving.names import ENGINES, IMPROVE

if TYPE_CHECKING:
    from metasage.adaptation.method import Method
    from metasage.policies.model import Model
    from metasage.policies.sml import Sml


@dataclass(frozen=True)
class NetworkOptions:
    """Which network, and how and where it computes; see `metasage.solve`."""

    model: Model | str | Path | None = None
    sml: Sml | str = "auto"
    engine: str = "auto"
    device: str = "cpu"
    max_memory: float | None = None

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise InputError(f"engine '{self.engine}' is not one of {', '.join(ENGINES)}.")
        memory = self.max_memory
        if memory is not None and not (isinstance(memory, Real) and memory > 0):
            raise InputError(f"the memory is {memory} and must be a positive number.")
        if not isinstance(self.device, str):
            raise InputError(f"a device is a name, and this is {kind_of(self.device)}.")
        # Models and meta-learners are known by what they hold: their classes need torch.
        is_name = isinstance(self.model, str | Path)
        if not (self.model is None or is_name or hasattr(self.model, "policy")):
            raise InputError(f"a model, a name or a file was expected, not {kind_of(self.model)}.")
        if not (isinstance(self.sml, str) or hasattr(self.sml, "learner")):
            raise InputError(
                f"a scale meta-learner, a name or a file was expected, not {kind_of(self.sml)}."
            )
        if isinstance(self.model, str | Path):
            from metasage.policies.library import require_model

            require_model(self.model)

    @property
    def are_set(self) -> bool:
        """Whether any of them is not what it is by itself."""
        return self != NetworkOptions()


@dataclass(frozen=True)
class Parts:
    """Who works on an instance.

    Parameters
    ----------
    network
        Whether the network does.
    improve
        What local search does.
    notice
        Why something that was asked for is left out: a sentence without its point.
    """

    network: bool
    improve: str
    notice: str | None = None


def choose_parts(
    instance: Instance,
    method: Method | None = None,
    options: NetworkOptions | None = None,
    improve: str | None = None,
    seconds: float | None = None,
) -> Parts:
    """Decide who solves an instance.

    Parameters
    ----------
    instance
        The instance.
    method
        The method, if one was asked for.
    options
        What else was said about the network.
    improve
        What was said about local search; None for what measured best.
    seconds
        The time limit, if there is one.

    Raises
    ------
    InputError
        If a network was asked for that cannot solve such an instance.
    """
    options = NetworkOptions() if options is None else options
    if improve is not None and improve not in IMPROVE:
        raise InputError(f"improve is '{improve}' and must be one of {', '.join(IMPROVE)}.")
    # Whoever says anything about the network wants it.
    asked = method is not None or options.are_set or improve in ("none", "memetic")
    notice = None
    no_search = why_no_search(instance)
    if no_search is not None and improve in ("final", "memetic"):
        notice = f"{no_search}; the network works alone"
    chosen = "none" if no_search is not None else improve or "final"
    if (beyond := instance.problem.why_no_network(instance)) is not None:
        if asked:
            raise InputError(f"{beyond}.")
        return Parts(False, chosen, notice)
    reason = _why_not_now(instance, chosen, seconds)
    if reason is not None:
        alone = "construction" if chosen == "none" else "local search"
        return Parts(False, chosen, f"{reason}; {alone} works alone" if asked else None)
    # Measured on all four problems: of a given time, local search alone makes most.
    is_wanted = asked or seconds is None or chosen == "none"
    if is_wanted and not asked and chosen != "none" and not _has_default(instance):
        is_wanted = False
    return Parts(is_wanted, chosen, notice)


def _why_not_now(instance: Instance, improve: str, seconds: float | None) -> str | None:
    """Say why even a network that was asked for would be of no use."""
    if seconds is not None and seconds < LEAST_FOR_NETWORK and not is_loaded("torch"):
        return f"{seconds:g} s are too short to load a network"
    if instance.size <= MOST_NODES and improve != "none":
        return f"{instance.size} nodes are few enough to try every solution"
    return None


def _has_default(instance: Instance) -> bool:
    from metasage.policies.library import default_model

    try:
        default_model(instance.problem.name)
    except InputError:
        return False
    return True


def what_solves(instance: Instance) -> dict[str, Any]:
    """Name what `metasage.solve` uses for an instance, without and with a time limit."""
    from metasage.policies.library import default_model, shipped_models
    from metasage.policies.metadata import read_metadata, training_size
    from metasage.runtime import resources

    parts, timed = choose_parts(instance), choose_parts(instance, seconds=60.0)
    found: dict[str, Any] = {
        "method": "sage" if parts.network else "local-search",
        "model": None,
        "sml": None,
        "method under a time limit": "sage" if timed.network else "local-search",
        "engine": "native" if resources.is_built() else "torch",
        "improve": parts.improve,
    }
    if parts.network:
        name = found["model"] = default_model(instance.problem.name)
        path = shipped_models()[name]
        trained = training_size(read_metadata(path)[1]) or 0
        if instance.size > trained and (path.parent / "sml" / path.name).exists():
            found["sml"] = name
    return found
