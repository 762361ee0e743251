"""Finds and masks phrases that the owner asked to forget; they are stored as keyed hashes only.

A phrase is a list of words: runs of letters and digits, compared without case. The characters
between the words (spaces, markup, line ends, escapes) do not matter. A tombstone holds a keyed hash
of the whole phrase, the number of its words, and a short hash of its longest word, its anchor. Text
without the anchor is excluded quickly. Every byte of a forgotten word becomes an asterisk, as with
secrets, so lengths and offsets stay the same. The characters around the words stay, too.
"""

import hashlib
import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import accumulate, product
from typing import Any

from memory_assets.store.ledger import WORDS_ERASED, WORDS_FORGOTTEN, Event
from memory_assets.store.store import Store
from memory_assets.text.masking.redact import cover, mask_all, merged, strings_of
from memory_assets.text.masking.secret_patterns import base64_texts
from memory_assets.text.masking.unwrap import Span, View, decode_base64, view_of, views

LONGEST_WORD = 64
"""Characters of a word that are compared; longer runs are data, not words."""

REACH = 8
"""Lines before and after an anchor's line that are searched, as a phrase may be wrapped."""

_WORD = re.compile(r"[^\W_]+")
_RAW_WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]+")
_AFTER_ESCAPE = re.compile(rb"\\[bfnrt]([0-9A-Za-z\x80-\xff]+)")
"""A word after an escaped character: in `\\nuv` the word may be `uv`."""
_WRAPPED = re.compile(
    rb"\\u[0-9a-fA-F]{4}|\x00|\x1b\[|\\(?:033|x1[bB]|e)\[|%[0-9A-Fa-f]{2}|&(?:[a-z]{2,4}"
    rb"|#[0-9]{2,3}|#x[0-9a-fA-F]{2});"
)
"""Escaped characters, colours, percent codes and HTML entities: they may be inside a word."""
_NAME = re.compile(rb"[A-Za-z_$]+")
_FORM = frozenset({b"type", b"subtype", b"role", b"kind", b"name", b"harness", b"status", b"state"})
"""Keys of JSON whose values belong to the format if they are a single word."""


@dataclass(frozen=True)
class Tombstone:
    """A forgotten phrase, as hashes."""

    digest: str
    """Keyed hash of the whole phrase, in hex."""
    words: int
    """The number of its words."""
    anchor: str
    """Short keyed hash of its longest word; thousands of words share it."""
    place: int
    """Index of the longest word, from 0."""


class Tombstones:
    """All forgotten phrases, and the keys of their hashes."""

    def __init__(self, tombstones: Iterable[Tombstone], *keys: bytes) -> None:
        self._keys = [hashlib.sha256(key).digest() for key in keys]
        self._by_anchor: dict[str, list[Tombstone]] = defaultdict(list)
        self._anchor_words: dict[bytes, bool] = {}
        """Whether a word is an anchor, of the words looked up so far."""
        for tombstone in dict.fromkeys(tombstones):
            self._by_anchor[tombstone.anchor].append(tombstone)

    def __bool__(self) -> bool:
        return bool(self._by_anchor)

    def holds(self, raw: bytes) -> bool:
        """Returns whether the bytes contain a forgotten phrase, also escaped or encoded."""
        return next(self._spans(raw), None) is not None

    def mask(self, raw: bytes) -> bytes:
        """Returns the bytes with forgotten words as asterisks; they may be text, JSON or both."""
        spans = {*self._spans(raw)}
        return cover(raw, spans) if spans else raw

    def mask_text(self, text: str) -> str:
        """Returns the text with forgotten words as asterisks."""
        return self.mask(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def _spans(self, raw: bytes) -> Iterator[Span]:
        """Yields the spans of forgotten words in the bytes, also of escaped or encoded ones."""
        places = self._suspects(raw) if self else ()
        for piece in pieces_at(raw, places):
            for view in piece.views():
                if self._anchors_in(view.text):
                    yield from (
                        piece.span(view.span(*span)) for span in self._spans_of_words(view.text)
                    )

    def _suspects(self, raw: bytes) -> Iterator[int]:
        """Yields the places of anchors and of escaped or encoded text, which may hide an anchor."""
        anchors = sorted(self._anchors_in(raw), key=len, reverse=True)
        if anchors:
            pattern = b"|".join(map(re.escape, anchors))
            yield from (match.start() for match in re.finditer(pattern, raw))
        yield from wrapped_places(raw)

    def _anchors_in(self, raw: bytes) -> list[bytes]:
        """Returns the words in the bytes that may be the longest word of a forgotten phrase."""
        distinct = {*_RAW_WORD.findall(raw), *_AFTER_ESCAPE.findall(raw)}
        return [word for word in distinct if self._is_anchor(word)]

    def _is_anchor(self, word: bytes) -> bool:
        if len(word) > 4 * LONGEST_WORD:
            return False
        if word not in self._anchor_words:
            inner = words_of(word.decode("utf-8", "replace"))
            self._anchor_words[word] = any(
                _anchor_of(inner_word, key) in self._by_anchor
                for inner_word in inner
                for key in self._keys
            )
        return self._anchor_words[word]

    def _spans_of_words(self, raw: bytes) -> Iterator[Span]:
        """Yields the spans of the words of each forgotten phrase.

        Words with only spaces between them have one span together.
        """
        text = raw.decode("utf-8", "surrogateescape")
        words = [(match.start(), match.end()) for match in _WORD.finditer(text)]
        normal = [_normal(text[start:end]) for start, end in words]
        for key, (at, word) in product(self._keys, enumerate(normal)):
            for tombstone in self._by_anchor.get(_anchor_of(word, key), ()):
                first = at - tombstone.place
                end = first + tombstone.words
                if first < 0 or end > len(words):
                    continue
                if _digest_of(normal[first:end], key) == tombstone.digest:
                    yield from (_in_bytes(text, span) for span in _joined(text, words[first:end]))


@dataclass(frozen=True)
class TextPiece:
    """A stretch of bytes in which words can follow each other."""

    raw: bytes
    start: int
    is_json: bool
    """Whether it is the content of a JSON string, which must be unescaped."""

    def span(self, inner: Span) -> Span:
        """Returns the place in all bytes of a span within the piece."""
        return self.start + inner[0], self.start + inner[1]

    def views(self) -> Iterator[View]:
        """Yields the texts of the piece with escapes, codes and base64 decoded, colours removed."""
        for view in views(view_of(self.raw), with_itself=not self.is_json):
            yield view
            for places in base64_texts(view.text):
                inner = decode_base64(view, places)
                yield from views(inner, with_itself=True) if inner else ()


def pieces_at(raw: bytes, places: Iterable[int]) -> Iterator[TextPiece]:
    """Yields the pieces around the places.

    Of a line of JSON these are its strings of content, of a line of text the line with `REACH`
    neighbours on both sides.
    """
    starts = list(accumulate(map(len, raw.splitlines(keepends=True)), initial=0))
    text_spans: list[Span] = []
    for number in sorted({bisect_right(starts, place) - 1 for place in places}):
        line = raw[starts[number] : starts[number + 1]]
        strings = strings_of(line)
        if strings is None:
            first = max(number - REACH, 0)
            last = min(number + REACH, len(starts) - 2)
            text_spans.append((starts[first], starts[last + 1]))
        for start, end in _content_strings(line, strings or ()):
            yield TextPiece(line[start + 1 : end - 1], starts[number] + start + 1, is_json=True)
    for start, end in merged(text_spans):
        yield TextPiece(raw[start:end], start, is_json=False)


def make_tombstone(words: Sequence[str], key: bytes) -> Tombstone:
    """Returns the tombstone of a phrase of at least one word."""
    hashed_key = hashlib.sha256(key).digest()
    normal = [_normal(word) for word in words]
    place = max(range(len(normal)), key=lambda at: min(len(normal[at]), LONGEST_WORD))
    anchor = _anchor_of(normal[place], hashed_key)
    return Tombstone(_digest_of(normal, hashed_key), len(normal), anchor, place)


@lru_cache(200_000)
def _anchor_of(word: str, key: bytes) -> str:
    """Returns the short hash of a normal word; cached, because texts repeat words."""
    return hashlib.blake2b(
        word[:LONGEST_WORD].encode(), key=key, person=b"word", digest_size=3
    ).hexdigest()


def _digest_of(words: Sequence[str], key: bytes) -> str:
    """Returns the hash of a phrase of normal words."""
    content = "\x1f".join(words).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, key=key, person=b"words", digest_size=16).hexdigest()


def tombstones_of(store: Store) -> Tombstones:
    """Returns all tombstones of the store; every text that comes in is masked with them."""
    return read_tombstones(store.ledger.events([WORDS_FORGOTTEN]), *store.keys)


def read_tombstones(events: Iterable[Event], *keys: bytes) -> Tombstones:
    """Returns the tombstones in the events of the ledger."""
    forgotten = (event for event in events if event.kind == WORDS_FORGOTTEN)
    rows = (row for event in forgotten for row in event.payload["tombstones"])
    return Tombstones((Tombstone(**row) for row in rows), *keys)


def unfinished(events: Sequence[Event]) -> list[Event]:
    """Returns the events of words to forget that are not erased from all tables and files yet."""
    erased = {event.target for event in events if event.kind == WORDS_ERASED}
    forgettings = [event for event in events if event.kind == WORDS_FORGOTTEN]
    return [event for event in forgettings if event.id not in erased]


def masking(tombstones: Tombstones) -> Callable[[Sequence[bytes]], list[tuple[bytes, int]]]:
    """Returns the masking function that capture uses.

    It masks secrets and forgotten words in chunks of lines, and counts the secrets of each.
    """
    return lambda chunks: [(tombstones.mask(content), count) for content, count in mask_all(chunks)]


def rows_of(tombstones: Iterable[Tombstone]) -> list[dict[str, Any]]:
    """Returns the tombstones as rows for an event of the ledger."""
    return [asdict(tombstone) for tombstone in tombstones]


def words_of(text: str) -> list[str]:
    """Returns the words of a text in normal form."""
    return [_normal(word) for word in _WORD.findall(text)]


def wrapped_places(raw: bytes) -> Iterator[int]:
    """Yields the places of escaped or encoded characters."""
    yield from (match.start() for match in _WRAPPED.finditer(raw))
    yield from (places[0] for places in base64_texts(raw))


def _content_strings(line: bytes, strings: Sequence[Span]) -> Iterator[Span]:
    """Yields the strings of a JSON line that are content, not keys or words of the format."""
    key = b""
    for start, end in strings:
        word = line[start + 1 : end - 1]
        is_key = line[end : end + 8].lstrip().startswith(b":")
        is_form = bool(_NAME.fullmatch(word)) and (is_key or key in _FORM)
        key = word if is_key else key
        if not is_form:
            yield start, end


def _joined(text: str, words: Sequence[Span]) -> Iterator[Span]:
    """Yields the spans of the words; words with only spaces between them have one together."""
    start, end = words[0]
    for word in words[1:]:
        if text[end : word[0]].strip(" "):
            yield start, end
            start = word[0]
        end = word[1]
    yield start, end


def _in_bytes(text: str, span: Span) -> Span:
    """Returns a span of characters as a span of the bytes of the text."""
    if text.isascii():
        return span
    start = len(text[: span[0]].encode("utf-8", "surrogateescape"))
    return start, start + len(text[span[0] : span[1]].encode("utf-8", "surrogateescape"))


def _normal(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold()
