"""Knows what a session is about at any line: folder, branch, title, project, person.

Facts stand as of a window's end, so that what comes later in a session changes no window before it. Takes rows of `records`
in order; which lines make a window is decided in `windows`.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping

import polars as pl

from memory_assets.stages.capture.ownership import PLACE, in_order

Place = tuple[int, int]
"""Generation and line."""

FOREVER: Place = (2**62, 0)

FIRST_KNOWN = ("parent_session_id", "cwd")
"""A session stays where it began, whatever folders it visits."""

LATEST_KNOWN = ("branch", "repository", "title", "version")

_HOME = re.compile(r"^(?:/Users/|/home/|[A-Za-z]:[\\/]Users[\\/])([^\\/]+)")


class Facts:
    """What the records of one source say, and from where on."""

    def __init__(self) -> None:
        self._places: dict[str, list[Place]] = defaultdict(list)
        self._values: dict[str, list[str]] = defaultdict(list)

    def add(self, name: str, place: Place, value: str) -> None:
        """Notes that the fact holds from the place on; places come in order."""
        self._places[name].append(place)
        self._values[name].append(value)

    def first(self, name: str) -> str | None:
        """Returns the first value of the fact."""
        values = self._values.get(name)
        return values[0] if values else None

    def as_of(self, name: str, place: Place) -> str | None:
        """Returns the latest value of the fact up to the place, that included."""
        known = bisect_right(self._places.get(name, []), place)
        return self._values[name][known - 1] if known else None


def find_facts(records: pl.LazyFrame) -> dict[str, Facts]:
    """Returns the facts of each source."""
    found: dict[str, Facts] = defaultdict(Facts)
    for name in (*FIRST_KNOWN, *LATEST_KNOWN):
        for source, generation, line, value in _changes(records, name):
            found[source].add(name, (generation, line), value)
    return found


def _changes(records: pl.LazyFrame, name: str) -> Iterator[tuple[str, int, int, str]]:
    """Yields where the fact takes a new value; nearly every record repeats the branch, so only changes are looked at."""
    known = in_order(records.select(*PLACE, name).filter(pl.col(name).is_not_null()).collect())
    is_new = pl.col(name).ne_missing(pl.col(name).shift().over("source_id"))
    return known.filter(is_new).iter_rows()


def project_of(repository: str | None, folder: str) -> str:
    """Returns the project's name: the repository's, else the folder's last part."""
    name = re.split(r"[\\/:]", (repository or folder).rstrip("\\/"))[-1].removesuffix(".git")
    return name or "unknown"


def person_of(folder: str, people: Mapping[str, str], owner: str) -> str:
    """Returns the human of a session: the home folder's name, as the people map calls it, else the owner."""
    found = _HOME.match(folder)
    return people.get(found[1], found[1]) if found else owner
