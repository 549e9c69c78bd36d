"""Values of settings: what kind each must be, and how a command line changes them."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from metasage.errors import InputError


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


# What a setting may be, by its annotation.
_KINDS: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    int: ("a whole number", _is_whole),
    float: ("a finite number", _is_finite),
    bool: ("true or false", lambda value: isinstance(value, bool)),
    str: ("a text", lambda value: isinstance(value, str)),
    tuple[int, ...]: (
        "a list of whole numbers",
        lambda value: isinstance(value, tuple) and all(map(_is_whole, value)),
    ),
}


def require_kinds(settings: Any) -> None:
    """Complain about a value that is not of its setting's kind, as a user may give one.

    Parameters
    ----------
    settings
        A dataclass.
    """
    hints = get_type_hints(type(settings))
    for item in fields(settings):
        value = getattr(settings, item.name)
        kinds = list(get_args(hints[item.name])) or [hints[item.name]]
        if get_origin(hints[item.name]) not in (Union, UnionType):
            kinds = [hints[item.name]]
        if NoneType in kinds:
            if value is None:
                continue
            kinds.remove(NoneType)
        (kind,) = kinds if len(kinds) == 1 else (None,)
        if get_origin(kind) is Literal:
            if value not in get_args(kind):
                names = ", ".join(map(str, get_args(kind)))
                raise InputError(f"{item.name} is '{value}' and must be one of {names}.")
        elif kind in _KINDS:
            words, fits = _KINDS[kind]
            if not fits(value):
                raise InputError(f"{item.name} is {value!r} and must be {words}.")


def require_at_least(settings: Any, least: float, *names: str) -> None:
    """Complain about a setting that is too small."""
    for name in names:
        if not (value := getattr(settings, name)) >= least:
            raise InputError(f"{name} is {value} and must be at least {least}.")


def with_tuples(values: dict[str, Any]) -> dict[str, Any]:
    """Return settings from a file with tuples in place of its lists."""
    return {n: tuple(value) if isinstance(value, list) else value for n, value in values.items()}


def assign(values: dict[str, Any], assignments: Iterable[str]) -> dict[str, Any]:
    """Set ``name=value`` in plain data, values as in TOML; ``a.0.b=1`` reaches inside."""
    for assignment in assignments:
        name, mark, text = assignment.partition("=")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
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
