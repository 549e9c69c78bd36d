"""Values of settings: what each may be, and how a command line changes them.

A dataclass says it in its annotations: ``int``, ``float``, ``bool``, ``str``, ``Literal``,
lists as ``tuple[..., ...]``, and the narrower kinds of this module, such as `Count`.
"""

from __future__ import annotations

import math
import reprlib
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from metasage.errors import InputError


@dataclass(frozen=True)
class Range:
    """Numbers from one to another, both included."""

    least: float
    most: float

    def demand(self, value: float) -> str | None:
        """Say what a number outside must be; None of one inside."""
        if value < self.least:
            return f"at least {self.least:g}"
        return f"at most {self.most:g}" if value > self.most else None


@dataclass(frozen=True)
class OneOf:
    """Some numbers, and no others."""

    values: tuple[int, ...]

    def demand(self, value: int) -> str | None:
        """Say what another number must be; None of one of these."""
        return None if value in self.values else f"one of {', '.join(map(str, self.values))}"


# Beyond these bounds a number means nothing, or float32 cannot compute with it.
Count = Annotated[int, Range(1, 10**9)]
Amount = Annotated[int, Range(0, 10**9)]
Seed = Annotated[int, Range(0, 2**63 - 1)]
Copies = Annotated[int, OneOf((1, 2, 4, 8))]
Size = Annotated[int, Range(1, 10**6)]
LearningRate = Annotated[float, Range(1e-9, 10.0)]
Temperature = Annotated[float, Range(1e-3, 1e3)]
Strength = Annotated[float, Range(1e-9, 1e6)]
Weight = Annotated[float, Range(0.0, 1e6)]
Share = Annotated[float, Range(0.0, 1.0)]
Decay = Annotated[float, Range(0.0, 1 - 1e-6)]


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


_KINDS: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    int: ("a whole number", _is_whole),
    float: ("a finite number", _is_finite),
    bool: ("true or false", lambda value: isinstance(value, bool)),
    str: ("a text", lambda value: isinstance(value, str)),
    dict: ("values by name", lambda value: isinstance(value, dict)),
}


def require_valid(settings: Any) -> None:
    """Complain about a value that a setting must not have; numpy's numbers become plain ones.

    Parameters
    ----------
    settings
        A dataclass, just made.
    """
    hints = get_type_hints(type(settings), include_extras=True)
    for item in fields(settings):
        value = _plain(getattr(settings, item.name))
        object.__setattr__(settings, item.name, value)
        if (wanted := _demand(value, hints[item.name])) is not None:
            raise InputError(f"{item.name} is {_shown(value)} and must be {wanted}.")


def _plain(value: Any) -> Any:
    """Return a value as a file would have given it, a list as a tuple."""
    if getattr(value, "ndim", None) == 0:  # a number of numpy, which need not be loaded for this
        return value.item()
    return tuple(map(_plain, value)) if isinstance(value, list | tuple) else value


def _demand(value: Any, kind: Any) -> str | None:
    """Say what a value must be to be of a kind; None if it is."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if value is None and NoneType in parts:
            return None
        demands = [_demand(value, part) for part in parts if part is not NoneType]
        return None if None in demands else demands[0]
    if origin is Annotated:
        limits = next((part for part in parts if isinstance(part, Range | OneOf)), None)
        unfit = _demand(value, parts[0])
        return unfit if unfit is not None or limits is None else limits.demand(value)
    if origin is Literal:
        is_known = any(type(value) is type(one) and value == one for one in parts)
        return None if is_known else f"one of {', '.join(map(str, parts))}"
    if origin is tuple:
        if not isinstance(value, tuple):
            return f"a list, each {_demand(None, parts[0])}"
        unfit = next(filter(None, (_demand(one, parts[0]) for one in value)), None)
        return None if unfit is None else f"a list, each {unfit}"
    if isinstance(kind, type) and is_dataclass(kind):
        return None if isinstance(value, kind) else f"a {kind.__name__}"
    words, fits = _KINDS.get(origin or kind, ("", None))
    return None if fits is None or fits(value) else words


def _shown(value: Any) -> str:
    """Return a value as a sentence may quote it."""
    try:
        return reprlib.repr(list(value) if isinstance(value, tuple) else value)
    except ValueError:  # a whole number of thousands of digits
        return "too large"


def assign(values: dict[str, Any], assignments: Iterable[str]) -> dict[str, Any]:
    """Set ``name=value`` in plain data, values as in TOML; ``a.0.b=1`` reaches inside."""
    for assignment in assignments:
        name, mark, text = assignment.partition("=")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except (ValueError, RecursionError):
            value = text
        target: Any = values
        *path, last = name.strip().split(".")
        try:
            for part in path:
                target = target[int(part) if isinstance(target, list | tuple) else part]
            if not mark or (last not in target and path[:1] != ["policy"]):
                raise KeyError(name)
            target[last] = value
        except (KeyError, IndexError, ValueError, TypeError):
            raise InputError(f"'{assignment}' does not set a known setting.") from None
    return values
