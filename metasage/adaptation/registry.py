"""The methods by name, and methods of the user's; no torch in here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from importlib.metadata import entry_points
from typing import Any, Literal, get_args

from metasage.adaptation.active_search import ActiveSearch
from metasage.adaptation.eas import Eas
from metasage.adaptation.eas_tab import EasTab
from metasage.adaptation.greedy import Greedy
from metasage.adaptation.method import Method
from metasage.adaptation.sage import Preset, Sage
from metasage.adaptation.sampling import Sampling
from metasage.adaptation.sgbs import Sgbs
from metasage.errors import InputError

MethodName = Literal[
    "greedy", "sample", "as", "eas-lay", "eas-emb", "eas-tab", "sgbs", "sgbs-eas", "sage"
]

METHODS: dict[str, Callable[..., Method]] = {
    "greedy": Greedy,
    "sample": Sampling,
    "as": ActiveSearch,
    "eas-lay": partial(Eas, variant="lay"),
    "eas-emb": partial(Eas, variant="emb"),
    "eas-tab": EasTab,
    "sgbs": Sgbs,
    "sgbs-eas": partial(Sgbs, eas=True),
    "sage": Sage,
}

PRESETS: tuple[str, ...] = get_args(Preset)

ENTRY_POINTS = "metasage.methods"
"""Where installed packages name methods of their own."""

# Settings with parameters of their own, or that are the method's name.
_ELSEWHERE = ("iterations", "rollouts", "augment", "neighbours", "preset", "variant", "eas")


def make_method(
    name: str,
    *,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    **common: int | None,
) -> Method:
    """Make a method by its name.

    Parameters
    ----------
    name
        A name of `METHODS` or of an entry point, or ``module:Class`` for a method of the
        user's.
    preset
        Reading of SAGE.
    settings
        Settings of the method by name.
    common
        Settings that all methods have.

    Raises
    ------
    InputError
        If there is no such method or setting, or its value is not allowed.
    """
    kind = METHODS.get(name) or _of_user(name)
    known = {item.name for item in fields(kind())}
    options: dict[str, Any] = {n: value for n, value in common.items() if value is not None}
    if preset not in PRESETS:
        raise InputError(f"preset '{preset}' is not one of {', '.join(PRESETS)}.")
    if "preset" in known:
        options["preset"] = preset
    elif preset != "default":
        raise InputError(f"preset '{preset}' belongs to sage, not to {name}.")
    own = sorted(known - set(_ELSEWHERE))
    for setting, value in (settings or {}).items():
        if setting not in own:
            raise InputError(
                f"{name} has no setting '{setting}', only {', '.join(own) or 'options'}."
            )
        options[setting] = value
    return kind(**options)


def _of_user(name: str) -> Callable[..., Method]:
    """Find a method that is not ours."""
    module, mark, attribute = name.partition(":")
    found: Any = None
    if mark:
        try:
            found = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError, ValueError) as error:
            raise InputError(f"method '{name}' cannot be imported: {error}.") from None
    else:
        for point in entry_points(group=ENTRY_POINTS, name=name):
            found = point.load()
    if found is None:
        raise InputError(f"method '{name}' is not one of {', '.join(METHODS)}, nor module:Class.")
    if not (isinstance(found, type) and issubclass(found, Method)):
        raise InputError(f"'{name}' is not a subclass of metasage.Method.")
    return found
