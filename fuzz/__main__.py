"""Attack metasage, and print what gives way with the command that shows it again.

``make fuzz`` makes all attacks, which takes some minutes, and
``python -m fuzz settings --seed 7 --count 500`` one of them.
"""

from __future__ import annotations

import argparse
import sys
import time

from fuzz.attack import run
from fuzz.attacks import ATTACKS


def main() -> int:
    """Run the attacks that were asked for; exit code 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="ATTACK", help=", ".join(ATTACKS))
    parser.add_argument("--seed", type=int, help="First seed; the clock's by default.")
    parser.add_argument("--count", type=int, help="Attempts of each attack.")
    parser.add_argument("--seconds", type=float, default=60.0, help="Of each, without a count.")
    arguments = parser.parse_args()
    first = int(time.time()) if arguments.seed is None else arguments.seed
    found = 0
    for name in arguments.names or ATTACKS:
        began, tried, faults = time.monotonic(), 0, 0
        while not _is_over(arguments, tried, time.monotonic() - began):
            # Before each attempt, so that a hang leaves its seed behind.
            print(f"\r{name}: seed {first + tried}", end="", flush=True)
            for fault in run(ATTACKS[name], [first + tried]):
                print(f"\r{fault}\n", flush=True)
                faults += 1
            tried += 1
        print(f"\r{name}: {tried} attempts from seed {first}, {faults} faults", flush=True)
        found += faults
    return 1 if found else 0


def _is_over(arguments: argparse.Namespace, tried: int, seconds: float) -> bool:
    if arguments.count is not None:
        return tried >= int(arguments.count)
    return seconds > float(arguments.seconds)


if __name__ == "__main__":
    sys.exit(main())
