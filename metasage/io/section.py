"""The numbers of one section of a file, and the lines they stand on."""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from metasage.errors import InputError
from metasage.io.files import AnyPath, quoted
from metasage.problems.metric import Floats, Indices

# Numbers on each line; None where they may be spread over lines at will.
SECTIONS: dict[str, int | None] = {
    "NODE_COORD_SECTION": 3,
    "DISPLAY_DATA_SECTION": 3,
    "DEMAND_SECTION": 2,
    "NODE_SCORE_SECTION": 2,
    "SERVICE_TIME_SECTION": 2,
    "EDGE_WEIGHT_SECTION": None,
    "DEPOT_SECTION": None,
    "TOUR_SECTION": None,
    "NODE_SEQUENCE_SECTION": None,
}

# Beyond this a node number has no exact float64.
LARGEST_NUMBER = 2**53

_LONG_LINE = 10**6


@dataclass
class Section:
    """The numbers of one section, and where they stand.

    Parameters
    ----------
    name
        Its keyword.
    path
        The file.
    line
        The line of the keyword.
    """

    name: str
    path: AnyPath
    line: int
    values: array[float] = field(default_factory=lambda: array("d"))
    _starts: array[int] = field(default_factory=lambda: array("q"))
    _lines: array[int] = field(default_factory=lambda: array("q"))

    def add(self, text: str, line: int) -> None:
        """Take the numbers of one line."""
        start = len(self.values)
        self._starts.append(start)
        self._lines.append(line)
        try:
            self.values.extend(map(float, words(text)))
            # Python reads more as numbers than the formats know.
            valid = text.isascii() and "_" not in text
            valid = valid and all(map(math.isfinite, self.values[start:]))
        except ValueError:
            valid = False
        if not valid:
            wrong = next((word for word in words(text) if not is_number(word)), text)
            raise InputError(
                f"{quoted(wrong)} in {self.name} is not a finite number.", self.path, line
            )
        count, width = len(self.values) - start, SECTIONS[self.name]
        if width is not None and count != width:
            if width == 3 and count == 4:
                message = "three-dimensional coordinates are not supported."
            else:
                message = f"{self.name} has {count} numbers here, and {width} were expected."
            raise InputError(message, self.path, line)

    def line_of(self, index: int) -> int:
        """Return the line of a number of this section."""
        return self._lines[bisect_right(self._starts, index) - 1]

    def table(self) -> Floats:
        """Numbers line by line, for a section with a fixed number on each."""
        return np.array(self.values, dtype=np.float64).reshape(-1, SECTIONS[self.name] or 1)

    def nodes(self) -> Indices:
        """Node numbers: the first of each line, or all where lines mean nothing."""
        numbers = self.table()[:, 0]
        width = SECTIONS[self.name] or 1
        wrong = (numbers != np.floor(numbers)) | (numbers < 0) | (numbers > LARGEST_NUMBER)
        if wrong.any():
            index = int(np.argmax(wrong))
            raise InputError(
                f"{numbers[index]:g} in {self.name} is not a node number.",
                self.path,
                self.line_of(index * width),
            )
        return numbers.astype(np.int64)

    def distinct_nodes(self) -> Indices:
        """Node numbers, of which none may come twice."""
        nodes = self.nodes()
        order = np.argsort(nodes, kind="stable")
        repeated = order[1:][nodes[order][1:] == nodes[order][:-1]]
        if len(repeated):
            index = int(repeated.min())
            raise InputError(
                f"node {nodes[index]} stands in {self.name} twice.",
                self.path,
                self.line_of(index * (SECTIONS[self.name] or 1)),
            )
        return nodes

    def ended(self) -> Section:
        """Return the section up to the -1 that ends it, which may be missing."""
        if -1.0 not in self.values:
            return self
        end = self.values.index(-1.0)
        for index in range(end + 1, len(self.values)):
            # TSPLIB ends a list of tours by a second -1.
            if self.values[index] != -1.0:
                raise InputError(
                    f"{self.values[index]:g} follows the -1 that ends {self.name}.",
                    self.path,
                    self.line_of(index),
                )
        return Section(
            self.name, self.path, self.line, self.values[:end], self._starts, self._lines
        )


def words(text: str) -> Iterable[str]:
    """Split a line into words, one by one where all at once would fill the memory."""
    if len(text) < _LONG_LINE:
        return text.split()
    return (match[0] for match in re.finditer(r"\S+", text))


def is_number(text: str) -> bool:
    """Whether a word is a finite number as the formats write it."""
    try:
        return text.isascii() and "_" not in text and math.isfinite(float(text))
    except ValueError:
        return False
