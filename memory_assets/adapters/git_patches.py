"""Parses the patches that `git log -p` prints."""

import re
from collections.abc import Iterator
from datetime import date

from memory_assets.schema.protocols import Patch

PATCHES = ("-p", "-U3", "--no-renames", "--format=%x00%H %ct")
"""Options of `git log` for what is parsed here."""

_FIRST_DAY = date(1970, 1, 1).toordinal()
_SECONDS_A_DAY = 86_400
_COMMIT = re.compile(r"([0-9a-f]{40,64}) (\d+)\n")
_FILE = re.compile(r"(?m)^diff --git ")
_HUNK = re.compile(r"(?m)^@@ .*\n")
_OLD_PATH = re.compile(r"(?m)^--- a/(.*?)\t?$")
_ADDED = re.compile(r"(?m)^\+.*\n?")
_REMOVED = re.compile(r"(?m)^-.*\n?")
_SIGN = re.compile(r"(?m)^[-+ ]")


def parse_patches(commit: str) -> Iterator[Patch]:
    """Yields what the commit did to each file that it did not add.

    Lines of a file begin with a sign, so that none is taken for a header.
    """
    head = _COMMIT.match(commit)
    for patch in _FILE.split(commit)[1:] if head else ():
        header, *hunks = _HUNK.split(patch)
        path = _OLD_PATH.search(header)
        if head and path and hunks:
            lines = "".join(hunks)
            removed = _SIGN.sub("", _ADDED.sub("", lines))
            added = _SIGN.sub("", _REMOVED.sub("", lines))
            yield Patch(head[1], day_of(head[2]), path[1], removed, added)


def day_of(seconds: str) -> date:
    """Returns the day, in UTC, of a commit's time."""
    return date.fromordinal(_FIRST_DAY + int(seconds) // _SECONDS_A_DAY)
