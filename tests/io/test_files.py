"""Files that are missing, empty, binary or in the way, and writing them whole."""

import fcntl
import os
import stat
import subprocess
import sys

import pytest

from metasage.errors import InputError
from metasage.io import files, read, reading, write_atomically


def refusal(path: object) -> str:
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(str(path).replace("\0", "\\x00"))
    assert "\n" not in str(caught.value)
    return caught.value.message


def test_files_that_cannot_be_read(tmp_path, save):
    assert refusal(tmp_path / "none") == "the file does not exist."
    assert refusal(tmp_path) == "this is a folder, and a file was expected."
    assert refusal(save("")) == "the file is empty."
    assert refusal(save(" \n\t\r\n")) == "the file is empty."
    assert refusal(save("x") / "y") == "the file cannot be read: not a directory."
    assert refusal("a\0b") == "the file cannot be read: embedded null byte."
    assert refusal("x" * 5000) == "the file cannot be read: file name too long."


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(save):
    path = save("x")
    path.chmod(0)
    assert refusal(path) == "the file cannot be read: permission denied."


def test_a_file_that_is_too_large(save, monkeypatch):
    monkeypatch.setattr(files, "LARGEST_FILE", 2**20)
    assert refusal(save(b" " * (2**20 + 1))) == "the file is larger than 1 MB."
    assert refusal(save(b" " * 2**20)) == "the file is empty."


def test_a_sparse_giant_is_refused_at_once(tmp_path):
    path = tmp_path / "giant"
    with path.open("wb") as handle:
        handle.truncate(2**40)
    assert refusal(path) == "the file is larger than 512 MB."


def test_a_pipe_can_be_read(tmp_path):
    code = "import metasage.io as io, sys; print(io.read('/dev/stdin').routes)"
    run = subprocess.run(
        [sys.executable, "-c", code], input=b"Route #1: 1 2\n", capture_output=True, check=True
    )
    assert run.stdout == b"((1, 2),)\n"


@pytest.mark.parametrize("data", [b"\0\1\2", b"TYPE: TSP\0", "TYPE: TSP".encode("utf-16")])
def test_binary_files(save, data):
    assert refusal(save(data)) == "this is a binary file of no known format."


@pytest.mark.parametrize("data", [b"\xff\xfe\xfd", b"hello", b"\x1f\x8b\x08", b"<html>"])
def test_files_of_other_formats(save, data):
    assert "is neither a keyword nor a number" in refusal(save(data))


@pytest.mark.parametrize("content", ["text \u00e4\n", b"\0\1"])
def test_writing(tmp_path, content):
    path = tmp_path / "out"
    write_atomically(path, content)
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert os.listdir(tmp_path) == ["out"]


def test_an_earlier_file_is_replaced_and_keeps_its_mode(save):
    path = save("old")
    path.chmod(0o640)
    write_atomically(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_follows_the_umask(tmp_path):
    earlier = os.umask(0o027)
    try:
        write_atomically(tmp_path / "out", "x")
    finally:
        os.umask(earlier)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


def test_a_link_stays_a_link(save, tmp_path):
    path = save("old")
    link = tmp_path / "link"
    link.symlink_to(path)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_a_device_is_written_to_and_not_replaced():
    write_atomically(os.devnull, "x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failure_leaves_the_earlier_file(save, tmp_path, monkeypatch, failing):
    path = save("old", "out")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(InputError, match="cannot be written: no space left on device"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


def test_an_interrupt_leaves_nothing_behind(save, tmp_path, monkeypatch):
    path = save("old", "out")

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


def test_places_that_cannot_be_written(tmp_path, save, monkeypatch):
    for path, message in [
        (tmp_path, "this is a folder, and a file was to be written."),
        (tmp_path / "no" / "out", "the folder of this file does not exist."),
        (save("x") / "out", "the file cannot be written: not a directory."),
        ("a\0b", "the file cannot be written: embedded null byte."),
    ]:
        with pytest.raises(InputError) as caught:
            write_atomically(path, "new")
        assert caught.value.message == message
        assert caught.value.path == path
    path = save("old")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="cannot be written: permission denied"):
        write_atomically(path, "new")
    assert path.read_text() == "old"


def test_too_little_memory_is_told_in_a_sentence(save, monkeypatch):
    def exhaust(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(reading, "scan", exhaust)
    assert refusal(save("TYPE: TSP")) == "the file needs more memory than there is."


def test_what_cannot_be_written_is_told_before(tmp_path, monkeypatch):
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / "old.sol").write_text("old")
    (tmp_path / "link.sol").symlink_to(tmp_path / "nowhere" / "x.sol")
    (tmp_path / "other.sol").symlink_to(folder / "old.sol")

    def sentence(path):
        with pytest.raises(InputError) as caught:
            files.require_writable(path)
        return caught.value.message

    assert sentence(tmp_path / "link.sol") == "the folder of this file does not exist."
    # Root may write everything, so the folder is closed by hand.
    allowed = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: path != str(folder) and allowed(path, mode)
    )
    for path in (folder / "new.sol", folder / "old.sol", tmp_path / "other.sol"):
        assert sentence(path) == "the file cannot be written: permission denied."
    files.require_writable(tmp_path / "fine.sol")
    files.require_writable("/dev/null")


def test_what_a_killed_process_left_behind_is_removed(tmp_path):
    left, used = tmp_path / ".metasage-0123.tmp", tmp_path / ".metasage-4567.tmp"
    other = tmp_path / ".metasage.tmp.txt"
    for path in (left, used, other):
        path.write_text("half")
    with open(used, "rb") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)  # somebody writes it at this moment
        write_atomically(tmp_path / "a.sol", "whole")
    assert {path.name for path in tmp_path.iterdir()} == {used.name, other.name, "a.sol"}
