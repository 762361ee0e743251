"""What is kept ready: the status as text and how to tell that it is still true, and names of files; imports next to nothing."""

import os

BRIEFING = os.path.join("workspace", "briefing.md")
BRIEFINGS = os.path.join("workspace", "briefings")
"""Briefings of projects that have a file of entries; each holds what the other says, too."""

SESSIONS = os.path.join(BRIEFINGS, "sessions")
"""What long sessions are told of themselves, below the briefing, when they go on."""

REVIEW = os.path.join("workspace", "REVIEW.md")
NOTHING_YET = "There is no briefing yet. Run `memory up` to take in transcripts and build the memory."

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


def of_session(root: str, session: str) -> str:
    """Returns what the session is told of itself; empty where it is short, or new."""
    return read_text(os.path.join(root, SESSIONS, f"{file_name(session)}.md")) if session else ""


def with_own(text: str, own: str) -> str:
    """Returns the briefing with what a session is told of itself below it."""
    return "\n".join(filter(None, [text, own]))


def here() -> str:
    """Returns the working folder; empty where it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def briefing_path(root: str, folder: str) -> str:
    """Returns the briefing of the project that the folder lies in, by its name or one above it; else the owner's."""
    names = os.listdir(os.path.join(root, BRIEFINGS)) if os.path.isdir(os.path.join(root, BRIEFINGS)) else []
    while names and os.path.dirname(folder) != folder:
        if (name := f"{file_name(os.path.basename(folder))}.md") in names:
            return os.path.join(root, BRIEFINGS, name)
        folder = os.path.dirname(folder)
    return os.path.join(root, BRIEFING)


def read_text(path: str) -> str:
    """Returns the text of the file; empty where there is none or it is not UTF-8."""
    try:
        with open(path, "rb") as file:
            return file.read().decode()
    except (OSError, UnicodeDecodeError):
        return ""
