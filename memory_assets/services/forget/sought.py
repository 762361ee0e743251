"""The words that a person asks for, in clear: they live as long as the question, and never reach the disk.

A phrase is found wherever its words follow each other, whatever stands between them; at its ends it may be part of longer
words, which then belong to the wording that is found.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from memory_assets.stages.capture.tombstones import pieces_at, words_of, wrapped_places

_WORDS = re.compile(r"[^\W_]+")

HEAD_BYTES = 4_096

Wording = tuple[str, ...]
"""Words in normal form, one after the other."""


@dataclass(frozen=True)
class Sought:
    """Phrases to look for, each as its words in normal form."""

    phrases: tuple[Wording, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Sought":
        """Returns what looks for the texts; those without a word are left out."""
        found = dict.fromkeys(tuple(words_of(text)) for text in texts)
        return cls(tuple(phrase for phrase in found if phrase))

    def wordings_in(self, raw: bytes) -> Counter[Wording]:
        """Returns how the phrases are worded in the bytes, however they are wrapped, and how often."""
        if is_binary(raw):
            return self._wordings(raw) if any(needle and needle in raw.lower() for needle in self._needles) else Counter()
        found: Counter[Wording] = Counter()
        for piece in pieces_at(raw, self._suspects(raw)):
            here: Counter[Wording] = Counter()
            for view in piece.views():
                here |= self._wordings(view.text)  # one place may be readable under several wrappings
            found += here
        return found

    def count_in(self, raw: bytes) -> int:
        """Returns how often the phrases stand in the bytes."""
        return self.wordings_in(raw).total()

    def _suspects(self, raw: bytes) -> Iterator[int]:
        """Yields where a telling word of a phrase, or something wrapped, begins; every line, where no word is plain."""
        for pattern in self._patterns:
            yield from (match.start() for match in pattern.finditer(raw))
        yield from wrapped_places(raw)

    @cached_property
    def _needles(self) -> list[bytes]:
        """The longest word of plain letters of each phrase; empty where it has none."""
        plain = ([word.encode() for word in phrase if word.isascii()] for phrase in self.phrases)
        return [max(words, key=len, default=b"") for words in plain]

    @cached_property
    def _patterns(self) -> list[re.Pattern[bytes]]:
        told = (re.escape(needle) if needle else rb"[\x80-\xff]+" for needle in self._needles)
        return [re.compile(pattern, re.IGNORECASE) for pattern in told]

    def _wordings(self, raw: bytes) -> Counter[Wording]:
        text = unicodedata.normalize("NFKC", raw.decode("utf-8", "replace")).casefold()
        joined = f" {' '.join(_WORDS.findall(text))} "
        return Counter(wording for phrase in self.phrases for wording in _occurrences(joined, " ".join(phrase)))


def is_binary(raw: bytes) -> bool:
    """Returns whether the bytes are no text: wrappings in them would mean nothing."""
    head = raw[:HEAD_BYTES]
    zeros = head.count(0)
    return zeros > 0 and zeros not in (head[::2].count(0), head[1::2].count(0))  # in UTF-16 every other byte may be zero


def _occurrences(joined: str, phrase: str) -> Iterable[Wording]:
    at = joined.find(phrase)
    while at >= 0:
        start, end = joined.rfind(" ", 0, at + 1) + 1, joined.find(" ", at + len(phrase))
        yield tuple(joined[start:end].split(" "))
        at = joined.find(phrase, end)
