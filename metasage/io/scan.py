"""Files of keywords and sections: what TSPLIB, CVRPLIB and OPLib have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from io import BytesIO, TextIOWrapper

from metasage.errors import InputError
from metasage.io.files import AnyPath, quoted
from metasage.io.section import LARGEST_NUMBER, SECTIONS, Section, is_number

_KEYS = {
    "NAME",
    "TYPE",
    "DIMENSION",
    "CAPACITY",
    "COST_LIMIT",
    "DISTANCE",
    "SERVICE_TIME",
    "VEHICLES",
    "SALESMEN",
    "EDGE_WEIGHT_TYPE",
    "EDGE_WEIGHT_FORMAT",
    "NODE_COORD_TYPE",
    "ROUTE_NODES",
    "ROUTE_SCORE",
}

# Keys that say nothing about the problem, told apart from garbage without a colon.
_IGNORED = {"COMMENT", "DISPLAY_DATA_TYPE", "ROUTE_COST"}


@dataclass
class Document:
    """A file of keywords and sections.

    Parameters
    ----------
    path
        The file.
    fields
        Value and line of each key that means something.
    sections
        The sections by keyword.
    """

    path: AnyPath
    fields: dict[str, tuple[str, int]] = field(default_factory=dict)
    sections: dict[str, Section] = field(default_factory=dict)

    def text(self, key: str) -> str:
        """Return the value of a key, or an empty string."""
        return self.fields.get(key, ("", 0))[0]

    def word(self, key: str) -> str:
        """First word of a value, in capitals; an empty string if there is none."""
        return (self.text(key).upper().split() or [""])[0]

    def line(self, key: str) -> int | None:
        """Return the line of a key."""
        return self.fields[key][1] if key in self.fields else None

    def number(self, key: str) -> float:
        """Return the value of a key that must be there and be a finite number."""
        if key not in self.fields:
            raise InputError(f"{key} is missing.", self.path)
        if not is_number(self.text(key)):
            raise InputError(
                f"{key} is {quoted(self.text(key))}, and a number was expected.",
                self.path,
                self.line(key),
            )
        return float(self.text(key))

    def count(self, key: str) -> int:
        """Return the value of a key that must be there and be a positive integer."""
        number = self.number(key)
        if not number.is_integer() or not 0 < number <= LARGEST_NUMBER:
            raise InputError(
                f"{key} is {quoted(self.text(key))}, and a positive integer was expected.",
                self.path,
                self.line(key),
            )
        return int(number)

    def section(self, name: str) -> Section:
        """Return a section that must be there."""
        if name not in self.sections:
            raise InputError(f"{name} is missing.", self.path)
        return self.sections[name]


def scan(data: bytes, path: AnyPath) -> Document:
    """Take a file apart, without asking what it means."""
    document = Document(path)
    section: Section | None = None
    commented = False
    text = TextIOWrapper(BytesIO(data), encoding="utf-8-sig", errors="replace", newline=None)
    for number, raw in enumerate(text, start=1):
        line = raw.strip()
        if not line:
            continue
        if line[0] in "+-.0123456789":
            if section is None:
                raise InputError(f"{quoted(line)} stands outside a section.", path, number)
            section.add(line, number)
            continue
        key, value = _split(line)
        if key == "EOF":
            break
        continued, commented = commented, key == "COMMENT"
        section = None
        if key in SECTIONS:
            if key in document.sections:
                raise InputError(f"{key} comes twice.", path, number)
            section = document.sections[key] = Section(key, path, number)
            if value:
                section.add(value, number)
        elif key.endswith("_SECTION"):
            raise InputError(f"{quoted(key)} is not supported.", path, number)
        elif key in _KEYS:
            earlier = document.fields.setdefault(key, (value, number))
            if earlier[0] != value:
                raise InputError(f"{key} has another value on line {earlier[1]}.", path, number)
        elif continued and ":" not in line:
            commented = True  # a comment may go on over several lines
        elif key not in _IGNORED and ":" not in line:
            raise InputError(f"{quoted(line)} is neither a keyword nor a number.", path, number)
    return document


def _split(line: str) -> tuple[str, str]:
    """Split a line into key and value, with or without a colon."""
    head, colon, value = line.partition(":")
    if not colon:
        head, *rest = line.split(maxsplit=1)
        value = " ".join(rest)
    return head.strip().upper(), value.strip()
