"""Odd numbers, names and files on the command line: an answer or one sentence."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from random import Random

import metasage
from fuzz.attack import Attack, assert_sentence
from fuzz.odd import odd_text
from metasage.cli.app import run

# What is never left out, so that a command ends soon.
_SHORT = {
    "solve": ["--time-limit", "0.3"],
    "evaluate": ["--time-limit", "0.3", "--limit", "1"],
    "compare": ["--time-limit", "0.3", "--baseline", "nearest", "--method", "local-search"],
}

_SOLVING = [
    "--method",
    "--preset",
    "--model",
    "--sml",
    "--set",
    "--improve",
    "--iterations",
    "--rollouts",
    "--augment",
    "--neighbours",
    "--seed",
    "--threads",
    "--engine",
    "--device",
    "--max-memory",
    "--time-limit",
    "--json",
]

_OPTIONS = {
    "solve": [*_SOLVING, "--initial-solution", "--best-known", "-o", "--plot", "--plot-curve",
              "--problem", "--round", "--vehicles"],
    "evaluate": [*_SOLVING, "--offset", "--references", "--problem"],
    "compare": ["--time-limit", "--seed", "--method", "--threads", "--json", "--plot"],
    "generate": ["--size", "--count", "--seed", "-o", "--layout"],
    "info": ["--problem", "--round", "--json"],
    "check": ["--problem", "--round", "--vehicles", "--json"],
    "models": ["--json", "-o", "--problem"],
    "reproduce": ["--profile", "--limit", "--seed", "--threads", "--problem", "--model", "--sml"],
    "train": ["--time-limit", "--threads", "--set", "--recipe", "--engine", "--device",
              "--neighbours", "--labels", "--settings"],
}  # fmt: skip

# Numbers that would be obeyed, for hours.
_HUGE = 10**5


def _is_work(text: str) -> bool:
    try:
        return float(text) > _HUGE
    except ValueError:
        return False


def _arguments(random: Random) -> list[str]:
    """Draw a command with a few odd options."""
    command = random.choice(list(_OPTIONS))
    places = {
        "solve": ["given.json"],
        "evaluate": ["given.npz"],
        "compare": ["given.json"],
        "generate": ["tsp", "-o", "made.npz", "--size", "5"],
        "info": ["given.json"],
        "check": ["given.json", "given.sol"],
        "models": [random.choice(["list", "show", "import"]), "given.json"],
        "reproduce": [random.choice(["list", "none"])],
        "train": ["pomo", "tsp", "-o", "run", "--set", "policy.width=64", "--set",
                  "policy.layers=1", "--time-limit", "0"],
    }[command]  # fmt: skip
    if random.random() < 0.2:
        places[random.randrange(len(places))] = odd_text(random)
    given = [command, *places]
    for option in random.sample(_OPTIONS[command], random.choice([1, 1, 2])):
        text = odd_text(random)
        if option in ("--size", "--count", "--time-limit") and _is_work(text):
            text = "1e30" if option == "--time-limit" and command == "generate" else "0"
        given += [option, text]
    return [*given, *_SHORT.get(command, [])]


def attempt(random: Random, folder: Path) -> None:
    """Run a command line in this process."""
    problem = random.choice(["tsp", "cvrp", "pctsp", "op"])
    instances = metasage.generate(problem, 6, 2, random.randrange(100))
    metasage.write_set(folder / "given.npz", instances)
    metasage.write_instance(folder / "given.json", instances[0])
    arguments = _arguments(random)
    errors = io.StringIO()
    before = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
            code = run(arguments)
    except BaseException as error:
        raise AssertionError(f"{arguments}") from error
    finally:
        os.chdir(before)
    assert code in (0, 1, 2), f"{arguments}: exit code {code}"
    lines = errors.getvalue().splitlines()
    if code == 2:
        assert lines, f"{arguments}: no word"
        assert lines[-1].startswith("metasage: "), f"{arguments}: {lines[-1]}"
        assert_sentence(lines[-1])


COMMANDS = Attack("commands", attempt, quick=100)
