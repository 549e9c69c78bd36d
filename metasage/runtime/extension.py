"""Whether the C++ extension is there, without which there is no local search."""

from importlib.util import find_spec


def is_built() -> bool:
    """Return whether the installation found a C++ compiler."""
    return find_spec("metasage._native") is not None
