"""Writes files whole: no reader sees half of one, and no killed process leaves half of one.

Folders get the mode 0700, files 0600.
"""

import errno
import json
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from memory_assets.errors import StoreError
from memory_assets.text.checksums import with_new_checksums

BLOCK_BYTES = 4_096

UTF8_BOM = b"\xef\xbb\xbf"
"""Some editors write it before the first character of a file."""

Stamp = tuple[int, int, int]
"""Inode, size and modification time: identifies the version of a file."""


def stamp_of(path: Path) -> Stamp | None:
    """Returns the stamp of the file; None where it is missing."""
    try:
        return stamp(path.stat())
    except FileNotFoundError:
        return None


def stamp(status: os.stat_result) -> Stamp:
    """Returns the stamp of a file, given its status."""
    return status.st_ino, status.st_size, status.st_mtime_ns


def make_folder(path: Path) -> Path:
    """Creates the folder and its parents, accessible to the owner only, and returns it."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
    return path


def write_atomically(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replaces the file atomically: writes a temporary file, flushes it to disk and renames it."""
    make_folder(path.parent)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode != 0o600:
            Path(name).chmod(mode)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def replace_if_same(path: Path, expected: bytes | None, content: bytes, mode: int = 0o600) -> bool:
    """Replaces the file atomically if it still has the expected content; returns whether it did.

    The expected content None means that the file does not exist. If somebody saves the file at the
    same moment, their content is found in the displaced file, which is then put back.
    """
    make_folder(path.parent)
    new_file = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    displaced = path.with_name(f".{path.name}.displaced.tmp")
    if bytes_of(path) != expected:
        return False
    try:
        write_atomically(new_file, content, mode)
        displaced.unlink(missing_ok=True)
        if expected is not None:
            os.link(path, displaced)
        os.replace(new_file, path)
        if expected is not None and displaced.read_bytes() != expected:
            os.replace(displaced, path)
            return False
    finally:
        new_file.unlink(missing_ok=True)
        displaced.unlink(missing_ok=True)
    sync_folder(path.parent)
    return True


def bytes_of(path: Path) -> bytes | None:
    """Returns the content of the file; None where it is missing."""
    return path.read_bytes() if path.is_file() else None


def is_utf8(path: Path) -> bool:
    """Returns whether the path can be stored and shown: names of files may be any bytes."""
    return os.fsencode(path).decode("utf-8", "replace") == str(path)


def path_within(folder: Path, name: str) -> Path:
    """Returns the path of the file in the folder; raises `StoreError` where a link leads out of
    it.
    """
    path = folder / name
    place = Path(os.path.realpath(path))  # `resolve` raises an error for a link to itself
    if not place.is_relative_to(os.path.realpath(folder)):
        raise StoreError(
            f"{path} leads to {place}, outside of {folder}: the link is not followed. Replace it "
            "by the file itself, or delete it, then run the same command again."
        )
    return path


@cache
def file_system_of(folder: Path) -> str:
    """Returns the name of the file system of the folder, such as ext4; empty where the machine does
    not tell.
    """
    mounts = [line.split(" ") for line in text_of(Path("/proc/self/mounts")).splitlines()]
    names = {mount[1]: mount[2] for mount in mounts}
    place = folder.resolve()
    folders = map(str, (place, *place.parents))
    return next((names[path] for path in folders if path in names), "")


def text_of(path: Path) -> str:
    """Returns the text of the file, invalid UTF-8 replaced; empty where it is missing."""
    return path.read_text("utf-8", errors="replace") if path.is_file() else ""


def write_where_changed(path: Path, text: str) -> bool:
    """Replaces the file and its time only if the text differs; returns whether it did."""
    if text.encode() == (bytes_of(path) or b""):
        return False
    write_atomically(path, text.encode())
    return True


def write_json(path: Path, value: Any) -> None:
    """Replaces the file with the value as JSON."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1)
    write_atomically(path, f"{text}\n".encode())


def append_line(path: Path, line: bytes) -> None:
    """Appends one line and flushes it to disk; a last line without an end is ended first."""
    make_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        start = b""
        if size > 0 and hasattr(os, "pread") and os.pread(descriptor, 1, size - 1) != b"\n":
            start = b"\n"
        content = start + line.rstrip(b"\n") + b"\n"
        if os.write(descriptor, content) != len(content):
            # A full disk writes a part, and only the count shows it.
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if size == 0:
        sync_folder(path.parent)


def overwrite_records(path: Path, change: Callable[[bytes], bytes]) -> bool:
    """Overwrites the changed blocks of the file in place, and returns whether there were any.

    Changed records get new checksums. The length must not change. Nothing is renamed, so lines that
    another process appends at the same time are kept, and the old bytes do not survive in an
    unlinked file. The last block is written first, because a record ends with its checksum: after a
    killed process, a record with a new checksum still has the old words, and the same change is
    made again.
    """
    with path.open("r+b") as file:
        old_content = file.read()
        edited_content = change(old_content)
        old_size = len(old_content)
        new_size = len(edited_content)
        if new_size != old_size:
            raise ValueError(f"{path} would change its length from {old_size} to {new_size}")
        new_content = with_new_checksums(old_content, edited_content)
        for start in reversed(range(0, old_size, BLOCK_BYTES)):
            block = slice(start, start + BLOCK_BYTES)
            if old_content[block] != new_content[block]:
                file.seek(start)
                file.write(new_content[block])
        file.flush()
        os.fsync(file.fileno())
    return old_content != new_content


def sync_folder(path: Path) -> None:
    """Flushes the entries of the folder to disk, where the platform supports it."""
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
