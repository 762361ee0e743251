"""Finds and reads the files that are prepared for fast commands: the status text and the briefings;
imports almost nothing.
"""

import os

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

BRIEFING = os.path.join("workspace", "briefing.md")
BRIEFINGS = os.path.join("workspace", "briefings")
"""Briefings of projects; each includes the general one."""

SESSIONS = os.path.join(BRIEFINGS, "sessions")
"""Summaries of long sessions, appended to the briefing when a session continues."""

FULL = os.path.join(BRIEFINGS, "full")
"""Full versions of all briefings and summaries, at the same paths below this folder."""

REVIEW = os.path.join("workspace", "REVIEW.md")
NOTHING_YET = (
    "There is no briefing yet. Run `memory up` to take in transcripts and build the memory."
)

BEING_BUILT = (
    "There is no briefing yet: the memory is being built (`memory up`). Recall finds what was said "
    "by its words."
)

STATUS = "status.txt"
"""File with the stamp of the status (`stamp`), an empty line, and the text of the status."""

WAITING = os.path.join("built", "waiting.json")
"""File with table → since when its input waits, and from when that is late, in seconds since 1970
(`runs.freshness`).
"""

FAILED = os.path.join("built", "failed.json")
"""File with job → its failed run, when that failed and why, until its tables are built
(`runs.failures`).
"""

COUNTED = "sessions messages observations memories proposals decisions windows obedience".split()
"""Tables that the status counts."""


def stamp(root: str) -> str:
    """Returns the store's path and when each counted table was last written: a prepared status with
    another stamp is out of date.
    """
    folders = {table: os.path.join(root, "tables", table) for table in COUNTED}
    return "\n".join([root, *(f"{table} {changed_at(path)}" for table, path in folders.items())])


def nothing_yet(root: str) -> str:
    """Returns why there is no briefing."""
    is_begun = os.path.exists(os.path.join(root, "resources", "catalog.jsonl"))
    return BEING_BUILT if is_begun else NOTHING_YET


def file_name(name: str) -> str:
    """Returns a project's name or a session's id as a portable file name."""
    letters = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "-"
        for letter in name.lower()
    )
    return letters.strip(".-") or "unnamed"


def changed_at(path: str) -> int:
    """Returns the modification time in nanoseconds; 0 if the file or folder does not exist."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def read_briefing(
    root: str, folder: str, session: str = "", project: str = "", *, is_full: bool = False
) -> str:
    """Returns the briefing of the project, by default the folder's, and, after it, the session's
    summary; short and new sessions have none.
    """
    paths = [briefing_path(root, folder, project)]
    if session:
        paths.append(os.path.join(root, SESSIONS, f"{file_name(session)}.md"))
    if is_full:
        paths = [full_path(root, path) for path in paths]
    return "\n".join(filter(None, map(read_text, paths)))


def full_path(root: str, path: str) -> str:
    """Returns the path of the full version of a briefing or of a session's summary."""
    return os.path.join(root, FULL, os.path.relpath(path, os.path.join(root, "workspace")))


def here() -> str:
    """Returns the working folder; empty if it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def briefing_path(root: str, folder: str, project: str = "") -> str:
    """Returns the briefing of the project, by default the folder's or of one named by a folder
    above it, else the general one.

    A folder of a repository belongs to that repository alone, whatever the folders above are
    called.
    """
    briefings = os.path.join(root, BRIEFINGS)
    files = os.listdir(briefings) if os.path.isdir(briefings) else []
    names = (project,) if project else _projects_of(folder) if files else ()
    for name in names:
        file = f"{file_name(name)}.md"
        if file in files:
            return os.path.join(briefings, file)
    return os.path.join(root, BRIEFING)


def _projects_of(folder: str) -> "Iterator[str]":
    """Yields the name of the folder's project; for a folder in no repository, then the names of the
    folders from this one upwards.
    """
    from memory_assets.store.projects import find_repository, project_of

    repository = find_repository(folder, os.path.expanduser("~"))
    yield project_of(repository, folder)
    while not repository and os.path.dirname(folder) != folder:
        yield os.path.basename(folder)
        folder = os.path.dirname(folder)


def read_text(path: str) -> str:
    """Returns the text of the file; empty if it is missing or not UTF-8."""
    try:
        with open(path, "rb") as file:
            return file.read().decode()
    except (OSError, UnicodeDecodeError):
        return ""
