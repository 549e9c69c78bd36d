"""Pickles of torch files, run without anything that they ask for but tensors."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from io import BytesIO
from typing import Any, ClassVar

_Instruction = Callable[[Any], None]

# Keys of dictionaries that are kept. Python would walk through nested tuples to hash them.
_KEYS = (str, int, float, bool, bytes, type(None))

# None of the functions that make a tensor has more arguments.
_MOST_ARGUMENTS = 8


class Inert:
    """Stands for a class or function of a file, and for what would come of calling it.

    Parameters
    ----------
    kind
        Its full name.
    """

    __slots__ = ("kind",)

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def append(self, value: object) -> None:
        """Ignore an item."""

    def extend(self, values: object) -> None:
        """Ignore items."""


def unpickle_inert(file: BytesIO, known: dict[str, Any], storage_of: Callable[[Any], Any]) -> Any:
    """Return what the next pickle of a file holds.

    Parameters
    ----------
    file
        The bytes, of which no more than the pickle is read.
    known
        Classes and functions that mean something, by their full names; all others are
        inert. Functions in here are called.
    storage_of
        Makes the numbers of a tensor of what the pickle says about them.

    Raises
    ------
    Exception
        Of any kind, if the pickle is broken.
    """
    return _Unpickler(file, known, storage_of).load()


class _Unpickler(pickle._Unpickler):
    # Python's own in Python: that in C takes memory for whatever number a pickle gives to
    # an object. Its instructions are replaced where they would call something, look into
    # what they call with, or take memory that the file only speaks of.
    dispatch: ClassVar[dict[int, _Instruction]] = dict(pickle._Unpickler.dispatch)

    # Of the base class; typeshed does not know them.
    stack: list[Any]
    append: Callable[[Any], None]
    pop_mark: Callable[[], list[Any]]

    def __init__(
        self, file: BytesIO, known: dict[str, Any], storage_of: Callable[[Any], Any]
    ) -> None:
        super().__init__(file, encoding="latin-1")
        self._known = known
        self._storage_of = storage_of

    def find_class(self, module: str, name: str) -> Any:
        kind = f"{module}.{name}"
        return self._known.get(kind) or Inert(kind)

    def persistent_load(self, pid: Any) -> Any:
        return self._storage_of(pid)

    def _call(self) -> None:
        arguments = self.stack.pop()
        function = self.stack.pop()
        if isinstance(function, Inert):
            self.append(Inert(function.kind))
        elif callable(function) and type(arguments) is tuple and len(arguments) <= _MOST_ARGUMENTS:
            self.append(function(*arguments))
        else:
            raise pickle.UnpicklingError

    def _call_with_names(self) -> None:
        self.stack.pop()
        self._call()

    def _make(self) -> None:
        """Make an object in the manner of the oldest pickles."""
        function, *arguments = self.pop_mark()
        self.stack += [function, tuple(arguments)]
        self._call()

    def _put_one(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._put([key, value])

    def _put_all(self) -> None:
        self._put(self.pop_mark())

    def _put(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if isinstance(target, Inert):
            return
        if type(target) is not dict:
            raise pickle.UnpicklingError
        pairs = zip(items[::2], items[1::2], strict=True)
        target.update({key: value for key, value in pairs if type(key) in _KEYS})

    def _make_dictionary(self) -> None:
        items = self.pop_mark()
        self.append({})
        self._put(items)

    def _ignore(self) -> None:
        """Leave the state of an object aside."""
        self.stack.pop()

    for _code in (pickle.REDUCE, pickle.NEWOBJ):
        dispatch[_code[0]] = _call
    dispatch[pickle.NEWOBJ_EX[0]] = _call_with_names
    dispatch[pickle.OBJ[0]] = _make
    dispatch[pickle.BUILD[0]] = _ignore
    dispatch[pickle.SETITEM[0]] = _put_one
    dispatch[pickle.SETITEMS[0]] = _put_all
    dispatch[pickle.DICT[0]] = _make_dictionary
    # No torch file has these.
    for _code in (
        pickle.INST,
        pickle.EXT1,
        pickle.EXT2,
        pickle.EXT4,
        pickle.EMPTY_SET,
        pickle.ADDITEMS,
        pickle.FROZENSET,
        pickle.BYTEARRAY8,
        pickle.NEXT_BUFFER,
        pickle.READONLY_BUFFER,
    ):
        del dispatch[_code[0]]
    del _code
