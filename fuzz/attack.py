"""What an attack is, and how a list of them is run."""

from __future__ import annotations

import faulthandler
import tempfile
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random

# An attempt that takes longer hangs. In C++ no signal would end it, so the program does.
HANGS_AFTER = 120.0


@dataclass(frozen=True)
class Attack:
    """Attempts of one kind, each a function of its seed.

    Parameters
    ----------
    name
        How the command line calls it.
    attempt
        Draws something odd and hands it over, in an empty folder of its own. Whatever it
        raises is a fault of metasage.
    quick
        Number of attempts that are a part of the tests.
    """

    name: str
    attempt: Callable[[Random, Path], None]
    quick: int


@dataclass(frozen=True)
class Fault:
    """What an attempt found."""

    attack: str
    seed: int
    report: str

    def __str__(self) -> str:
        command = f"python -m fuzz {self.attack} --seed {self.seed} --count 1"
        return f"{self.report}\nAgain: {command}"


def run(attack: Attack, seeds: Iterable[int]) -> list[Fault]:
    """Make an attempt with each seed, and return what was found."""
    faults = []
    for seed in seeds:
        faulthandler.dump_traceback_later(HANGS_AFTER, exit=True)
        with tempfile.TemporaryDirectory() as folder:
            try:
                attack.attempt(Random(f"{attack.name} {seed}"), Path(folder))
            except Exception:
                faults.append(Fault(attack.name, seed, traceback.format_exc()))
        faulthandler.cancel_dump_traceback_later()
    return faults
