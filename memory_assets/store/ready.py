"""Files prepared for fast commands: the status text, its validity stamp and the briefings; imports
almost nothing.
"""

import os

BRIEFING = os.path.join("workspace", "briefing.md")
BRIEFINGS = os.path.join("workspace", "briefings")
"""Briefings of projects; each includes the general one."""

SESSIONS = os.path.join(BRIEFINGS, "sessions")
"""Summaries of long sessions, appended to the briefing when a session continues."""

FULL = os.path.join(BRIEFINGS, "full")
"""The full versions of all of these, below the same paths."""

REVIEW = os.path.join("workspace", "REVIEW.md")
NOTHING_YET = (
    "There is no briefing yet. Run `memory up` to take in transcripts and build the memory."
)

STATUS = "status.txt"
"""The stamp of the status, an empty line, and its text."""

WAITING = os.path.join("built", "waiting.json")
"""Name → since when input waits for it, and from when on it is late, in seconds since 1970
(`runs.freshness`).
"""

COUNTED = ("sessions", "messages", "observations", "memories", "proposals", "decisions", "windows")
"""Tables that the status counts."""


def stamp(root: str) -> str:
    """Returns the store's path and when each counted table was last written."""
    return "\n".join(
        [root, *(f"{table} {changed_at(os.path.join(root, 'tables', table))}" for table in COUNTED)]
    )


def file_name(name: str) -> str:
    """Returns a project's name or a session's id as a portable file name."""
    kept = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "-"
        for letter in name.lower()
    )
    return kept.strip(".-") or "unnamed"


def changed_at(path: str) -> int:
    """Returns the modification time in nanoseconds; 0 if the file or folder does not exist."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def read_briefing(root: str, folder: str, session: str = "", *, is_full: bool = False) -> str:
    """Returns the folder's briefing followed by the session's own summary, which short and new
    sessions lack.
    """
    paths = [
        briefing_path(root, folder),
        *([os.path.join(root, SESSIONS, f"{file_name(session)}.md")] if session else []),
    ]
    return "\n".join(
        filter(None, (read_text(full_path(root, path) if is_full else path) for path in paths))
    )


def full_path(root: str, path: str) -> str:
    """Returns the path of the full version of a briefing or of a session's summary."""
    return os.path.join(root, FULL, os.path.relpath(path, os.path.join(root, "workspace")))


def here() -> str:
    """Returns the working folder; empty if it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def briefing_path(root: str, folder: str) -> str:
    """Returns the briefing of the folder's project, or of one named by a folder above it, else the
    general one.

    A folder of a repository belongs to that repository alone, whatever the folders above are
    called.
    """
    names = (
        os.listdir(os.path.join(root, BRIEFINGS))
        if os.path.isdir(os.path.join(root, BRIEFINGS))
        else []
    )
    repository = None
    if names:
        from memory_assets.store.projects import find_repository, project_of

        repository = find_repository(folder, os.path.expanduser("~"))
        if (name := f"{file_name(project_of(repository, folder))}.md") in names:
            return os.path.join(root, BRIEFINGS, name)
    while names and not repository and os.path.dirname(folder) != folder:
        if (name := f"{file_name(os.path.basename(folder))}.md") in names:
            return os.path.join(root, BRIEFINGS, name)
        folder = os.path.dirname(folder)
    return os.path.join(root, BRIEFING)


def read_text(path: str) -> str:
    """Returns the text of the file; empty if it is missing or not UTF-8."""
    try:
        with open(path, "rb") as file:
            return file.read().decode()
    except (OSError, UnicodeDecodeError):
        return ""
