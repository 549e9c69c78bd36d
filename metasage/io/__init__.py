"""Files: instances, sets and solutions, read by content and written whole."""

from metasage.io.files import write_atomically
from metasage.io.reading import read, read_instance, read_set, read_solution
from metasage.io.solution import FileSolution
from metasage.io.writing import write_instance, write_set, write_solution

__all__ = [
    "FileSolution",
    "read",
    "read_instance",
    "read_set",
    "read_solution",
    "write_atomically",
    "write_instance",
    "write_set",
    "write_solution",
]
