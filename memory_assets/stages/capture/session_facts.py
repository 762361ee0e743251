"""Finds what the records of a session state about it: folder, repository, branch, title, summary,
version and parent session; and whose session it is.

A value is valid from the line on that states it, so that later lines of a session do not change
earlier windows.
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
"""A place after every line."""

FIRST_KNOWN = ("parent_session_id", "cwd", "repository")
"""Facts whose first value counts: a session stays with the folder in which it began."""

LATEST_KNOWN = ("branch", "title", "summary", "version")
"""Facts whose latest value counts."""

_HOME = re.compile(r"^(?:/Users/|/home/|[A-Za-z]:[\\/]Users[\\/])([^\\/]+)")


class SessionFacts:
    """The values of each fact of one source, and the place from which on each is valid."""

    def __init__(self) -> None:
        self._values: dict[str, list[tuple[Place, str]]] = defaultdict(list)

    def add(self, name: str, place: Place, value: str) -> None:
        """Adds a value that is valid from the place on; places come in order."""
        self._values[name].append((place, value))

    def first(self, name: str, until: Place = FOREVER) -> str | None:
        """Returns the first value of the fact, if its place is not after `until`."""
        return next((value for place, value in self._values[name] if place <= until), None)

    def begins(self, name: str) -> Place:
        """Returns the place that states the fact first."""
        return next((place for place, _ in self._values[name]), FOREVER)

    def as_of(self, name: str, place: Place) -> str | None:
        """Returns the latest value of the fact up to and including the place."""
        count = bisect_right(self._values[name], place, key=itemgetter(0))
        return self._values[name][count - 1][1] if count else None


def find_facts(records: pl.LazyFrame) -> dict[str, SessionFacts]:
    """Returns the facts of each source."""
    facts: dict[str, SessionFacts] = defaultdict(SessionFacts)
    for name in (*FIRST_KNOWN, *LATEST_KNOWN):
        for source, generation, line, value in _changes(records, name):
            facts[source].add(name, (generation, line), value)
    return facts


def _changes(records: pl.LazyFrame, name: str) -> Iterator[tuple[str, int, int, str]]:
    """Yields source, generation, line and value of each record in which the fact changes."""
    stating_records = records.select(*PLACE, name).filter(pl.col(name).is_not_null())
    ordered_records = in_order(stating_records.collect())
    is_new = pl.col(name).ne_missing(pl.col(name).shift().over("source_id"))
    return ordered_records.filter(is_new).iter_rows()


def person_of(folder: str, people: Mapping[str, str], owner: str, *, is_own: bool) -> str:
    """Returns the person of a session in the folder.

    `people` may map the user name in the path of a home folder to a person. Else a session of this
    machine (`is_own`) is the owner's, and a session from elsewhere is that user's.
    """
    home = _HOME.match(folder)
    user = home[1] if home else ""
    if user in people:
        return people[user]
    return owner if is_own or not user else user
