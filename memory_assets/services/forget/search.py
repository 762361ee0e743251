"""Searches everything in a store for phrases: to preview a forgetting and, afterwards, to verify
it.

A phrase matches wherever its words follow each other, whatever punctuation or space is between
them. Its first and last word may be part of a longer word; the longer word is then part of the
wording. The phrases are never written to disk.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from memory_assets.adapters.git_history import GitHistory
from memory_assets.schema.progress import track
from memory_assets.services.forget.data_locations import GIT, data_locations, read_texts
from memory_assets.stages.capture.tombstones import pieces_at, words_of, wrapped_places
from memory_assets.store.store import Store

NOT_TEXT = ("table ", "indexes", "Dagster's home", "temporary")
"""Beginnings of the kinds whose files are not text: a match there shows that the words occur, but
not their wording.
"""

HEAD_BYTES = 4_096
"""How much of a file decides whether it is text."""
_WORDS = re.compile(r"[^\W_]+")

Wording = tuple[str, ...]
"""Consecutive words in normal form."""


@dataclass(frozen=True)
class Matches:
    """The matches in one part of the store."""

    kind: str
    files: int
    """Files, or objects of git."""
    count: int
    """Number of matches."""
    where: str
    """The first of the files, below the store."""


@dataclass(frozen=True)
class SearchReport:
    """What a search found and what it examined."""

    places: tuple[Matches, ...]
    looked_at: dict[str, int]
    """Files, and objects of git, by kind."""
    commit_count: int
    """Commits of the workspace that contain the words."""
    _wordings: tuple[Wording, ...]

    @property
    def wordings(self) -> tuple[Wording, ...]:
        """How the words are written, in normal form."""
        return self._wordings

    @property
    def has_matches(self) -> bool:
        """Whether anything but older commits contains the words."""
        return any(place.kind != GIT for place in self.places)


@dataclass(frozen=True)
class PhraseQuery:
    """Phrases to search for, each as its words in normal form."""

    phrases: tuple[Wording, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "PhraseQuery":
        """Returns the query for the texts; texts without a word are left out."""
        phrases = dict.fromkeys(tuple(words_of(text)) for text in texts)
        return cls(tuple(phrase for phrase in phrases if phrase))

    def wordings_in(self, raw: bytes) -> Counter[Wording]:
        """Returns how often each wording of a phrase is in the bytes, in any encoding or escape."""
        if is_binary(raw):
            lowered = raw.lower()
            has_needle = any(needle and needle in lowered for needle in self._needles)
            return self._wordings(raw) if has_needle else Counter()
        counts: Counter[Wording] = Counter()
        for piece in pieces_at(raw, self._candidates(raw)):
            counts_in_text: Counter[Wording] = Counter()
            for view in piece.views():
                # The same place may be readable under several encodings.
                counts_in_text |= self._wordings(view.text)
            counts += counts_in_text
        return counts

    def count_in(self, raw: bytes) -> int:
        """Returns the number of matches in the bytes."""
        return self.wordings_in(raw).total()

    def _candidates(self, raw: bytes) -> Iterator[int]:
        """Yields the offsets where a phrase may be: those of its longest ASCII word, or of any
        text that is not ASCII if it has no such word, and those of encoded text.
        """
        for pattern in self._patterns:
            yield from (match.start() for match in pattern.finditer(raw))
        yield from wrapped_places(raw)

    @cached_property
    def _needles(self) -> list[bytes]:
        """The longest ASCII word of each phrase; empty where it has none."""
        ascii_words = (filter(str.isascii, phrase) for phrase in self.phrases)
        return [max(words, key=len, default="").encode() for words in ascii_words]

    @cached_property
    def _patterns(self) -> list[re.Pattern[bytes]]:
        return [
            re.compile(re.escape(needle) or rb"[\x80-\xff]+", re.IGNORECASE)
            for needle in self._needles
        ]

    def _wordings(self, raw: bytes) -> Counter[Wording]:
        text = unicodedata.normalize("NFKC", raw.decode("utf-8", "replace")).casefold()
        joined = f" {' '.join(_WORDS.findall(text))} "
        return Counter(
            wording for phrase in self.phrases for wording in _matches(joined, " ".join(phrase))
        )


def search(store: Store, query: PhraseQuery) -> SearchReport:
    """Returns the matches in the store, git history included."""
    counts_by_kind: dict[str, Counter[str]] = {}
    examined: Counter[str] = Counter()
    wordings: set[Wording] = set()
    for item in track([*data_locations(store)], "Searching every file"):
        examined[item.kind] += 1
        counts: Counter[Wording] = Counter()
        for text in read_texts(item.path):
            counts |= query.wordings_in(text)
        if counts:
            counts_by_file = counts_by_kind.setdefault(item.kind, Counter())
            counts_by_file[item.place] = counts.total()
            if not item.kind.startswith(NOT_TEXT):
                wordings.update(counts)
    history = GitHistory(store.workspace)
    objects: Counter[str] = Counter()
    for item in history.objects():
        examined[GIT] += 1
        count = query.count_in(item.content)
        if count:
            objects[item.id] = count
    if objects:
        counts_by_kind[GIT] = objects
    places = tuple(
        Matches(kind, len(counts), counts.total(), next(iter(counts)))
        for kind, counts in sorted(counts_by_kind.items())
    )
    commits = history.commits_about(objects) if objects else 0
    return SearchReport(places, dict(sorted(examined.items())), commits, tuple(sorted(wordings)))


def is_binary(raw: bytes) -> bool:
    """Returns whether the bytes are not text, so that escapes in them mean nothing."""
    head = raw[:HEAD_BYTES]
    zeros = head.count(0)
    # In UTF-16 every other byte may be zero.
    return zeros > 0 and zeros not in (head[::2].count(0), head[1::2].count(0))


def _matches(joined: str, phrase: str) -> Iterator[Wording]:
    """Yields each wording of the phrase in the words, which are joined by spaces."""
    at = joined.find(phrase)
    while at >= 0:
        start = joined.rfind(" ", 0, at + 1) + 1
        end = joined.find(" ", at + len(phrase))
        yield tuple(joined[start:end].split(" "))
        at = joined.find(phrase, end)
