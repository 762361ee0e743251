"""What is kept ready: the status as text and how to tell that it is still true, and names of files; imports next to nothing."""

import os

STATUS = "status.txt"
"""The stamp under which the status was told, an empty line, and its text."""

COUNTED = ("sessions", "messages", "observations", "memories", "proposals", "decisions", "windows")
"""Tables that the status counts."""


def stamp(root: str) -> str:
    """Returns where the store lies and when each table that the status counts was last written."""
    return "\n".join([root, *(f"{table} {changed_at(os.path.join(root, 'tables', table))}" for table in COUNTED)])


def file_name(name: str) -> str:
    """Returns a project's name, or a session's id, as every file system takes it."""
    kept = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "-" for letter in name.lower())
    return kept.strip(".-") or "unnamed"


def changed_at(path: str) -> int:
    """Returns when the file or folder was last changed, in nanoseconds; 0 where there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
