"""What an attack is, and how a list of them is run."""

from __future__ import annotations

import faulthandler
import resource
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from metasage.errors import MetasageError

# Bytes that an attempt may take, whatever it is: what is handed over is small.
MOST_MEMORY = 2**30


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
    patience
        Seconds after which an attempt hangs. In C++ no signal would end it, so the program
        does.
    """

    name: str
    attempt: Callable[[Random, Path], None]
    quick: int
    patience: float = 120.0


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
        faulthandler.dump_traceback_later(attack.patience, exit=True)
        before = _peak()
        with tempfile.TemporaryDirectory() as folder:
            try:
                attack.attempt(Random(f"{attack.name} {seed}"), Path(folder))
                taken = _peak() - before
                assert taken < MOST_MEMORY, f"it took {taken / 2**20:.0f} MB of memory"
            except Exception:
                faults.append(Fault(attack.name, seed, traceback.format_exc()))
        faulthandler.cancel_dump_traceback_later()
    return faults


@contextmanager
def allowed() -> Iterator[None]:
    """Let what the block does end with an error of metasage: one sentence, and warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except MetasageError as error:
            assert_sentence(str(error))


def assert_sentence(text: str) -> None:
    """Complain about an error that is not one sentence on one line."""
    assert text.endswith("."), text
    assert len(text.splitlines()) == 1, text


def _peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
