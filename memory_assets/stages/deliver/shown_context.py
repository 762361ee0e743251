"""Notes what each session was shown: a checksum of its last briefing, and the ids of the memories
that were shown at its prompts.

A resumed session still has both in its context, so only a changed briefing and further memories are
shown. A session that was compacted or cleared has lost the memories. Each session has two small
files. Imports the standard library only, because a harness waits for it.
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
"""Age at which the files are deleted; a session that is resumed later is shown everything again."""


def note_briefing(root: str, session: str, text: str) -> bool:
    """Notes that the session is shown the briefing; returns whether it had it already."""
    has_same = has_briefing(root, session, text)
    if not has_same:
        _write(_path(root, session), "w", _checksum(text))
    return has_same


def has_briefing(root: str, session: str, text: str) -> bool:
    """Returns whether the text is the last briefing that the session was shown."""
    return _read(_path(root, session)) == _checksum(text)


def was_briefed(root: str, session: str) -> bool:
    """Returns whether the session was shown a briefing."""
    return bool(_read(_path(root, session)))


def briefing_sizes(root: str) -> "list[int]":
    """Returns the characters of the briefings that the sessions of the last month were shown."""
    folder = os.path.join(root, FOLDER)
    names = os.listdir(folder) if os.path.isdir(folder) else []
    noted = (_read(os.path.join(folder, name)).split() for name in names if IDS not in name)
    return [int(words[1]) for words in noted if len(words) == 2 and words[1].isdigit()]


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode('utf-8', 'replace')):08x} {len(text)}"


def read_shown_ids(root: str, session: str) -> set[str]:
    """Returns the ids of the memories that were shown at prompts of the session."""
    return set(_read(_path(root, session, IDS)).split())


def add_ids(root: str, session: str, ids: "list[str]") -> None:
    """Notes that these memories were shown at a prompt of the session."""
    _write(_path(root, session, IDS), "a", "".join(f"{id}\n" for id in ids))


def forget_ids(root: str, session: str) -> None:
    """Notes that the session lost the memories that were shown at its prompts."""
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
    """Writes the text. If that fails, the session is only shown the same once more."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, mode, encoding="ascii") as file:
            file.write(text)
    except OSError:
        pass


def _path(root: str, session: str, suffix: str = "") -> str:
    return os.path.join(root, FOLDER, file_name(session)[:LONGEST_NAME] + suffix)


def drop_old(root: str) -> None:
    """Deletes the files that did not change for `KEPT_SECONDS`."""
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
