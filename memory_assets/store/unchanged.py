"""Finds out quickly whether an ingest has anything to do; imports almost nothing.

An ingest must load the tables, the rules and their libraries, which takes a second, to find out
what there is to do. When there is nothing, `runs.look` stores a fingerprint of all that an ingest
reads: the files of the store, the files and folders outside the store, the environment, and this
program's own files. While the fingerprint is the same, and until the clock makes something due, the
next ingest would find nothing to do either. In every other case the ingest runs as usual.
"""

import os
import sys
import time

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NOTE_FILE = os.path.join("built", "unchanged.json")
IGNORED = (
    *"dagster logs lock status.txt".split(),
    *(
        os.path.join("built", name)
        for name in ("unchanged.json", "waiting.json", "failed.json", "locks")
    ),
)
"""Files of a store that change without giving an ingest anything to do."""

VARIABLES = ("MEMORY_", "TODOIST_", "HOME", "USERPROFILE", "XDG_", "TZ")
"""Beginnings of the names of environment variables that decide what an ingest reads."""

CODE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def fingerprint(root: str, watched: "Sequence[str]", variables: "Sequence[str]" = ()) -> str:
    """Returns a hash of the environment, of the states of the store's and this program's files, and
    of the watched files and folders, which need not exist. `variables` name further variables of
    the environment that count.
    """
    from hashlib import blake2b

    ignored = {os.path.join(root, name) for name in IGNORED}
    names = (*VARIABLES, *variables)
    environment = sorted(item for item in os.environ.items() if item[0].startswith(names))
    facts = [sys.version, *(f"{name}={value}" for name, value in environment)]
    for place in (root, CODE, *watched):
        facts += [place, *sorted(_files(place, ignored))]
    content = "\n".join(facts).encode("utf-8", "surrogateescape")
    return blake2b(content, digest_size=16).hexdigest()


def is_unchanged(root: str, now: "float | None" = None) -> bool:
    """Returns whether the last ingest found nothing to do, and neither files nor the clock can have
    changed that.
    """
    import json

    try:
        with open(os.path.join(root, NOTE_FILE), "rb") as file:
            note = json.load(file)
        now = time.time() if now is None else now
        is_valid = note["from"] <= now < note["until"]
        inputs = (root, note["watched"], note["variables"])
        return is_valid and fingerprint(*inputs) == note["fingerprint"]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _files(place: str, ignored: "set[str]") -> "Iterator[str]":
    """Yields path, size, time and inode of the file, or of each file below the folder; an error
    number for what is missing. What a link to a folder yields never repeats: the folder may change
    unseen.
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
            if entry.is_symlink() and os.path.isdir(entry.path):
                yield f"{entry.path} {time.time_ns()}"
            elif entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, ignored)
            else:
                try:
                    yield _facts(entry.path, entry.stat())
                except OSError as error:  # a link to nothing, or deleted meanwhile
                    yield f"{entry.path} {error.errno}"


def _facts(path: str, stat: os.stat_result) -> str:
    return f"{path} {stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"
