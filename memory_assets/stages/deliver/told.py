"""What sessions were told: a checksum of their last briefing, and the ids of the memories that
their prompts were shown.

A session that is resumed still has both; only a changed briefing, or another memory, is shown
again. One that was compacted or cleared lost the memories. Two small files for each session.
Standard library only.
"""

import os
import time
import zlib

from memory_assets.store.ready import file_name

FOLDER = os.path.join("built", "told")
LONGEST_NAME = 200
IDS = ".ids"
"""Suffix of the file with the ids of memories."""
KEPT_SECONDS = 30 * 86_400
"""A session that is resumed later than this is told everything again."""


def tell(root: str, session: str, text: str) -> bool:
    """Notes that the session is told the text now; returns whether it was the last thing that it
    was told.
    """
    is_told = is_last_told(root, session, text)
    if not is_told:
        _write(_path(root, session), "w", _sum(text))
    return is_told


def is_last_told(root: str, session: str, text: str) -> bool:
    """Returns whether the text was the last thing that the session was told."""
    return _read(_path(root, session)) == _sum(text)


def _sum(text: str) -> str:
    return f"{zlib.crc32(text.encode('utf-8', 'replace')):08x} {len(text)}"


def ids_told(root: str, session: str) -> set[str]:
    """Returns the ids of the memories that prompts of the session were shown."""
    return set(_read(_path(root, session, IDS)).split())


def add_ids(root: str, session: str, ids: "list[str]") -> None:
    """Notes that a prompt of the session was shown these memories."""
    _write(_path(root, session, IDS), "a", "".join(f"{id}\n" for id in ids))


def forget_ids(root: str, session: str) -> None:
    """Notes that the session no longer has the memories that its prompts were shown."""
    path = _path(root, session, IDS)
    if os.path.isfile(path):
        os.unlink(path)


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def _write(path: str, mode: str, text: str) -> None:
    """Writes the text; where that is not possible, the session is told once more."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, mode, encoding="ascii") as file:
            file.write(text)
    except OSError:
        pass


def _path(root: str, session: str, suffix: str = "") -> str:
    return os.path.join(root, FOLDER, file_name(session)[:LONGEST_NAME] + suffix)


def drop_old(root: str) -> None:
    """Deletes what sessions were told that nobody resumed for a month."""
    folder = os.path.join(root, FOLDER)
    try:
        old_files = [
            entry.path
            for entry in os.scandir(folder)
            if time.time() - entry.stat().st_mtime > KEPT_SECONDS
        ]
    except FileNotFoundError:
        return
    for path in old_files:
        os.unlink(path)
