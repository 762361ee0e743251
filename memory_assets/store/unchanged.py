"""Whether anything that an ingest reads changed since one found nothing to do; imports almost
nothing.

A look at everything needs the tables, the rules and the libraries below them, which take a second
to load. When it finds nothing to do, `runs.look` notes what was looked at: path, size and time of
each file of the store and of each folder outside that an ingest reads, the environment, and this
program's own files. While these are the same, and until the clock makes something due, the next
ingest would find nothing either. Where that is not sure, everything is looked at.
"""

import os
import sys
import time

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NOTE = os.path.join("built", "unchanged.json")
OWN = (
    *"dagster logs lock status.txt".split(),
    *(os.path.join("built", name) for name in ("unchanged.json", "waiting.json", "locks")),
)
"""Files of a store that a look itself writes; no ingest reads them."""

VARIABLES = tuple(
    "MEMORY_ TODOIST_ CLAUDE_CONFIG_DIR CODEX_HOME PI_ HOME USERPROFILE XDG_ TZ".split()
)
"""Beginnings of the names of the variables that decide what an ingest reads."""

CODE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def fingerprint(root: str, watched: "Sequence[str]") -> str:
    """Returns the hash of the environment, of the store, and of the watched files and folders,
    present or not.
    """
    from hashlib import blake2b

    ignored = {os.path.join(root, name) for name in OWN}
    facts = [
        f"{name}={value}"
        for name, value in sorted(os.environ.items())
        if name.startswith(VARIABLES)
    ]
    for place in (root, CODE, *watched):
        facts += [place, *sorted(_files(place, ignored))]
    return blake2b(
        "\n".join((sys.version, *facts)).encode("utf-8", "surrogateescape"), digest_size=16
    ).hexdigest()


def is_unchanged(root: str, now: "float | None" = None) -> bool:
    """Returns whether the last look found nothing to do, and neither files nor the clock can have
    changed that.
    """
    import json

    try:
        with open(os.path.join(root, NOTE), "rb") as file:
            note = json.load(file)
        is_due = not note["from"] <= (time.time() if now is None else now) < note["until"]
        return not is_due and fingerprint(root, note["watched"]) == note["fingerprint"]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _files(place: str, ignored: "set[str]") -> "Iterator[str]":
    """Yields path, size, time and inode of the file, or of each file below the folder; links are
    not followed.
    """
    try:
        entries = os.scandir(place)
    except OSError as error:
        yield _facts(place, os.stat(place)) if os.path.isfile(place) else f"{place} {error.errno}"
        return
    with entries:
        for entry in entries:
            if entry.path in ignored or entry.name.endswith(("__pycache__", ".lock")):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, ignored)
            else:
                try:
                    yield _facts(entry.path, entry.stat())
                except OSError as error:  # a link to nothing, or deleted meanwhile
                    yield f"{entry.path} {error.errno}"


def _facts(path: str, stat: os.stat_result) -> str:
    return f"{path} {stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"
