"""Files: instances, sets and solutions, read by content and written whole."""

from metasage.io.best_known import read_best_known
from metasage.io.files import require_writable, write_atomically
from metasage.io.reading import (
    read,
    read_file_solution,
    read_instance,
    read_instances,
    read_set,
    read_solution,
    split_index,
)
from metasage.io.solution import FileSolution
from metasage.io.writing import require_solution_suffix, write_instance, write_set, write_solution

__all__ = [
    "FileSolution",
    "read",
    "read_best_known",
    "read_file_solution",
    "read_instance",
    "read_instances",
    "read_set",
    "read_solution",
    "require_solution_suffix",
    "require_writable",
    "split_index",
    "write_atomically",
    "write_instance",
    "write_set",
    "write_solution",
]
