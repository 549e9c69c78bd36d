"""A program of others that ends with the process that started it.

``python -m metasage.runtime.bound PARENT PROGRAM ARGUMENT...`` becomes that program.
"""

from __future__ import annotations

import os
import sys

from metasage.runtime.processes import leave_with_parent


def main(parent: str, *program: str) -> None:
    """Become the program."""
    leave_with_parent(int(parent))
    os.execv(program[0], program)


if __name__ == "__main__":
    main(*sys.argv[1:])
