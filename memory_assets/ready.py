"""The status that is kept ready as text, and how to tell that it is still true; imports next to nothing."""

import os

STATUS = "status.txt"
"""The stamp under which the status was told, an empty line, and its text."""

COUNTED = ("sessions", "messages", "observations", "memories", "proposals", "decisions", "windows")
"""Tables that the status counts."""


def stamp(root: str) -> str:
    """Returns where the store lies and when each table that the status counts was last written."""
    return "\n".join([root, *(f"{table} {changed_at(os.path.join(root, 'tables', table))}" for table in COUNTED)])


def changed_at(path: str) -> int:
    """Returns when the file or folder was last changed, in nanoseconds; 0 where there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
