"""Finds the folder, branch, title, project and person of a session at any line.

The facts of a window are those at its end, so that later lines of a session change no earlier window. Takes ordered rows of
`records`.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from operator import itemgetter

import polars as pl

from memory_assets.stages.capture.ownership import PLACE, in_order

Place = tuple[int, int]
"""Generation and line."""

FOREVER: Place = (2**62, 0)

FIRST_KNOWN = ("parent_session_id", "cwd")
"""A session belongs to the folder in which it began."""

LATEST_KNOWN = ("branch", "repository", "title", "version")

_HOME = re.compile(r"^(?:/Users/|/home/|[A-Za-z]:[\\/]Users[\\/])([^\\/]+)")


class SessionFacts:
    """The values of each fact of one source, and the place from which on each is valid."""

    def __init__(self) -> None:
        self._values: dict[str, list[tuple[Place, str]]] = defaultdict(list)

    def add(self, name: str, place: Place, value: str) -> None:
        """Adds a value that is valid from the place on; places come in order."""
        self._values[name].append((place, value))

    def first(self, name: str) -> str | None:
        """Returns the first value of the fact."""
        return next((value for _, value in self._values[name]), None)

    def as_of(self, name: str, place: Place) -> str | None:
        """Returns the latest value of the fact up to and including the place."""
        known = bisect_right(self._values[name], place, key=itemgetter(0))
        return self._values[name][known - 1][1] if known else None


def find_facts(records: pl.LazyFrame) -> dict[str, SessionFacts]:
    """Returns the facts of each source."""
    found: dict[str, SessionFacts] = defaultdict(SessionFacts)
    for name in (*FIRST_KNOWN, *LATEST_KNOWN):
        for source, generation, line, value in _changes(records, name):
            found[source].add(name, (generation, line), value)
    return found


def _changes(records: pl.LazyFrame, name: str) -> Iterator[tuple[str, int, int, str]]:
    """Yields where the fact takes a new value; nearly every record repeats the branch."""
    known = in_order(records.select(*PLACE, name).filter(pl.col(name).is_not_null()).collect())
    is_new = pl.col(name).ne_missing(pl.col(name).shift().over("source_id"))
    return known.filter(is_new).iter_rows()


def project_of(repository: str | None, folder: str) -> str:
    """Returns the project's name: the repository's, else the folder's last part."""
    name = re.split(r"[\\/:]", (repository or folder).rstrip("\\/"))[-1].removesuffix(".git")
    return name or "unknown"


def person_of(folder: str, people: Mapping[str, str], owner: str) -> str:
    """Returns the person of a session: the home folder's name, renamed by the people map, else the owner."""
    found = _HOME.match(folder)
    return people.get(found[1], found[1]) if found else owner
