"""All attacks, by name."""

from __future__ import annotations

from fuzz.attack import Attack
from fuzz.commands import COMMANDS
from fuzz.ending import ENDING
from fuzz.files import FILES
from fuzz.foreign import FOREIGN
from fuzz.kills import KILLS
from fuzz.limits import LIMITS
from fuzz.networks import NETWORKS
from fuzz.settings import SETTINGS
from fuzz.targets import TARGETS

_ALL = (FILES, NETWORKS, FOREIGN, SETTINGS, COMMANDS, TARGETS, KILLS, ENDING, LIMITS)

ATTACKS: dict[str, Attack] = {attack.name: attack for attack in _ALL}
