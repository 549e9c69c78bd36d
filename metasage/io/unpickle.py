"""Lists, tuples and numbers out of a pickle, and nothing else whatever it holds.

Python's own reader runs what a pickle asks for; this one knows only the
opcodes that build nested lists.
"""

from __future__ import annotations

import struct
from typing import Any

from metasage.errors import InputError

_NAMES = {
    "c": "GLOBAL",
    "R": "REDUCE",
    "b": "BUILD",
    "i": "INST",
    "o": "OBJ",
    "P": "PERSID",
    "Q": "BINPERSID",
    "N": "NONE",
    "d": "DICT",
    "}": "EMPTY_DICT",
    "s": "SETITEM",
    "u": "SETITEMS",
    "S": "STRING",
    "T": "BINSTRING",
    "U": "SHORT_BINSTRING",
    "V": "UNICODE",
    "X": "BINUNICODE",
    "B": "BINBYTES",
    "C": "SHORT_BINBYTES",
    "F": "FLOAT",
    "I": "INT",
    "L": "LONG",
    "0": "POP",
    "1": "POP_MARK",
    "2": "DUP",
    "p": "PUT",
    "g": "GET",
    "\x81": "NEWOBJ",
    "\x82": "EXT1",
    "\x83": "EXT2",
    "\x84": "EXT4",
    "\x88": "NEWTRUE",
    "\x89": "NEWFALSE",
    "\x8b": "LONG4",
    "\x8c": "SHORT_BINUNICODE",
    "\x8d": "BINUNICODE8",
    "\x8e": "BINBYTES8",
    "\x8f": "EMPTY_SET",
    "\x90": "ADDITEMS",
    "\x91": "FROZENSET",
    "\x92": "NEWOBJ_EX",
    "\x93": "STACK_GLOBAL",
    "\x96": "BYTEARRAY8",
    "\x97": "NEXT_BUFFER",
    "\x98": "READONLY_BUFFER",
}

_HIGHEST_PROTOCOL = 5


def unpickle(data: bytes) -> Any:
    """Build the nested lists, tuples and numbers of a pickle of protocol 2 to 5.

    Lists may be shared, so what is returned can be far larger than the data
    when it is walked through; see `count_leaves`.

    Raises
    ------
    InputError
        If the pickle asks for anything else, or is broken.
    """
    try:
        return _run(data)
    except (IndexError, KeyError, struct.error, TypeError, AttributeError):
        raise InputError("the pickle is broken or not complete.") from None


def _run(data: bytes) -> Any:
    stack: list[Any] = []
    marks: list[int] = []
    memo: dict[int, Any] = {}
    float_at = struct.Struct(">d").unpack_from
    long_at = struct.Struct("<I").unpack_from
    push = stack.append
    at = 0
    # The most frequent opcodes come first: a set has millions of them.
    while True:
        opcode = data[at]
        at += 1
        if opcode == 0x47:  # BINFLOAT
            push(float_at(data, at)[0])
            at += 8
        elif opcode == 0x72:  # LONG_BINPUT
            memo[long_at(data, at)[0]] = stack[-1]
            at += 4
        elif opcode == 0x94:  # MEMOIZE
            memo[len(memo)] = stack[-1]
        elif opcode == 0x28:  # MARK
            marks.append(len(stack))
        elif opcode == 0x5D:  # EMPTY_LIST
            push([])
        elif opcode == 0x65:  # APPENDS
            mark = marks.pop()
            items = stack[mark:]
            del stack[mark:]
            _extend(stack[-1], items)
        elif opcode == 0x4B:  # BININT1
            push(data[at])
            at += 1
        elif opcode == 0x71:  # BINPUT
            memo[data[at]] = stack[-1]
            at += 1
        elif opcode == 0x61:  # APPEND
            item = stack.pop()
            _extend(stack[-1], [item])
        elif opcode in (0x74, 0x6C):  # TUPLE, LIST
            mark = marks.pop()
            items = stack[mark:]
            del stack[mark:]
            push(tuple(items) if opcode == 0x74 else items)
        elif opcode == 0x29:  # EMPTY_TUPLE
            push(())
        elif 0x85 <= opcode <= 0x87:  # TUPLE1, TUPLE2, TUPLE3
            first = len(stack) - (opcode - 0x84)
            if first < 0:
                raise IndexError
            items = stack[first:]
            del stack[first:]
            push(tuple(items))
        elif opcode == 0x68:  # BINGET
            push(memo[data[at]])
            at += 1
        elif opcode == 0x6A:  # LONG_BINGET
            push(memo[long_at(data, at)[0]])
            at += 4
        elif opcode == 0x4A:  # BININT
            push(struct.unpack_from("<i", data, at)[0])
            at += 4
        elif opcode == 0x4D:  # BININT2
            push(struct.unpack_from("<H", data, at)[0])
            at += 2
        elif opcode == 0x8A:  # LONG1
            length = data[at]
            push(int.from_bytes(data[at + 1 : at + 1 + length], "little", signed=True))
            at += 1 + length
        elif opcode == 0x80:  # PROTO
            if not 2 <= data[at] <= _HIGHEST_PROTOCOL:
                raise InputError(f"the pickle has the protocol {data[at]}, and not 2 to 5.")
            at += 1
        elif opcode == 0x95:  # FRAME
            at += 8
        elif opcode == 0x2E:  # STOP
            if len(stack) != 1 or marks or at != len(data):
                raise IndexError
            return stack[0]
        else:
            name = _NAMES.get(chr(opcode), f"0x{opcode:02x}")
            raise InputError(
                f"the pickle has the opcode {name} at byte {at - 1}, "
                "and only lists, tuples and numbers are read."
            )


def _extend(target: Any, items: list[Any]) -> None:
    if type(target) is not list:
        raise TypeError
    target.extend(items)


def count_leaves(value: Any, most: int) -> int:
    """Count the entries of nested lists, shared ones as often as they appear.

    The count stops soon after it exceeds ``most``.
    """
    count = 0
    pending = [value]
    while pending and count <= most:
        item = pending.pop()
        if type(item) is list or type(item) is tuple:
            count += len(item)
            if count <= most:
                pending.extend(item)
    return count
