"""Messages over pipes: a length, then as many bytes."""

from __future__ import annotations

from typing import IO

_BYTES_OF_LENGTH = 8


def send(stream: IO[bytes], message: bytes) -> None:
    """Write a message."""
    stream.write(len(message).to_bytes(_BYTES_OF_LENGTH, "little"))
    stream.write(message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """Read a message.

    Raises
    ------
    EOFError
        If the stream ends before it does.
    """
    length = int.from_bytes(_read(stream, _BYTES_OF_LENGTH), "little")
    return _read(stream, length)


def _read(stream: IO[bytes], count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError
    return data
