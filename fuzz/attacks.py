"""All attacks, by name."""

from __future__ import annotations

from fuzz.attack import Attack

_ALL: tuple[Attack, ...] = ()

ATTACKS: dict[str, Attack] = {attack.name: attack for attack in _ALL}
