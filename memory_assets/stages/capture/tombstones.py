"""Recognises words that are forgotten, of which only keyed hashes are kept, and masks them wherever they stand.

Words are runs of letters and digits, compared without case; what stands between them (spaces, markup, line ends, escapes) does
not matter. A tombstone holds a keyed hash of the whole run, how many words it has, and a short hash of its longest word: most
text is passed over by comparing its distinct words with that. As with secrets, every masked byte becomes an asterisk, so
lengths and offsets stay, and only words are masked, so the text around them keeps its form.
"""

import hashlib
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

from memory_assets.stages.capture.formats.unwrap import View, decode_base64, view_of, views
from memory_assets.stages.capture.masking.redact import MASK, mask_all, strings_of
from memory_assets.stages.capture.masking.secret_patterns import base64_texts
from memory_assets.store.ledger import WORDS_ERASED, WORDS_FORGOTTEN, Event
from memory_assets.store.store import Store

LONGEST_WORD = 64
"""Characters of a word that are told apart: what is longer is no word, but data."""

REACH = 8
"""Lines of text, before and after one, over which words may be wrapped."""

_WORD = re.compile(r"[^\W_]+")
_RAW_WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]+")
_AFTER_ESCAPE = re.compile(rb"\\[bfnrt]([0-9A-Za-z\x80-\xff]+)")
"""In `\\nuv` the word may be `uv`."""
_WRAPPED = re.compile(
    rb"\\u[0-9a-fA-F]{4}|\x00|\x1b\[|\\(?:033|x1[bB]|e)\[|%[0-9A-Fa-f]{2}|&(?:[a-z]{2,4}|#[0-9]{2,3}|#x[0-9a-fA-F]{2});"
)
"""Escaped characters, colours, codes of an address or of HTML: words may be hidden in what stands there."""
_NAME = re.compile(rb"[A-Za-z_$]+")
_FORM = frozenset({b"type", b"subtype", b"role", b"kind", b"name", b"harness", b"status", b"state"})
"""Keys whose values are the format's own words, where they are a single one."""

Span = tuple[int, int]


@dataclass(frozen=True)
class Tombstone:
    """A run of words that is forgotten, as hashes."""

    digest: str
    """Keyed hash of the whole run, in hex."""
    words: int
    """How many words it has."""
    anchor: str
    """Short keyed hash of its longest word; thousands of words share it."""
    place: int
    """Where the longest word stands among them, from 0."""


class Tombstones:
    """All that is forgotten, and the key to recognise it."""

    def __init__(self, stones: Iterable[Tombstone], key: bytes) -> None:
        self._hashing = _Hashing(key)
        self._by_anchor: dict[str, list[Tombstone]] = {}
        self._known: dict[bytes, bool] = {}
        for stone in dict.fromkeys(stones):
            self._by_anchor.setdefault(stone.anchor, []).append(stone)

    def __bool__(self) -> bool:
        return bool(self._by_anchor)

    def holds(self, raw: bytes) -> bool:
        """Returns whether something forgotten stands in the bytes, however it is wrapped."""
        return next(self._spans(raw), None) is not None

    def mask(self, raw: bytes) -> bytes:
        """Returns text, lines of JSON or both, with the bytes of forgotten words as asterisks."""
        return cover(raw, spans) if (spans := {*self._spans(raw)}) else raw

    def mask_text(self, text: str) -> str:
        """Returns the text with forgotten words as asterisks."""
        return self.mask(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def _spans(self, raw: bytes) -> Iterator[Span]:
        """Yields the bytes of forgotten words under whatever wrappings."""
        for piece in pieces_at(raw, self._suspects(raw)) if self else ():
            for view in piece.views():
                if self._anchors_in(view.text):
                    yield from (piece.span(view.span(*span)) for span in self._spans_of_words(view.text))

    def _suspects(self, raw: bytes) -> Iterator[int]:
        """Yields where anchors, or something wrapped, begin."""
        if anchors := sorted(self._anchors_in(raw), key=len, reverse=True):
            yield from (match.start() for match in re.finditer(b"|".join(map(re.escape, anchors)), raw))
        yield from wrapped_places(raw)

    def _anchors_in(self, raw: bytes) -> list[bytes]:
        """Returns the words of the bytes, as they stand there, that something forgotten may stand around."""
        distinct = {*_RAW_WORD.findall(raw), *_AFTER_ESCAPE.findall(raw)}
        return [word for word in distinct if self._is_anchor(word)]

    def _is_anchor(self, word: bytes) -> bool:
        if len(word) > 4 * LONGEST_WORD:
            return False
        known = self._known.get(word)
        if known is None:
            inner = words_of(word.decode("utf-8", "replace"))
            known = self._known[word] = any(self._hashing.bucket(one) in self._by_anchor for one in inner)
        return known

    def _spans_of_words(self, raw: bytes) -> Iterator[Span]:
        """Yields the bytes of the words of each forgotten run, those with nothing but spaces between them as one span."""
        text = raw.decode("utf-8", "surrogateescape")
        words = [(match.start(), match.end()) for match in _WORD.finditer(text)]
        normal = [_normal(text[start:end]) for start, end in words]
        for at, word in enumerate(normal):
            for stone in self._by_anchor.get(self._hashing.bucket(word), ()):
                first, behind = at - stone.place, at - stone.place + stone.words
                if first >= 0 and behind <= len(words) and self._hashing.digest(normal[first:behind]) == stone.digest:
                    yield from (_in_bytes(text, span) for span in _joined(text, words[first:behind]))


@dataclass(frozen=True)
class Piece:
    """A stretch of bytes in which words can follow each other."""

    raw: bytes
    start: int
    is_json: bool
    """The inside of a string of JSON, which has to be unescaped before it is read."""

    def span(self, inner: Span) -> Span:
        """Returns the span as one of the whole."""
        return self.start + inner[0], self.start + inner[1]

    def views(self) -> Iterator[View]:
        """Yields every text that is wrapped in the piece: in escapes, codes, colours or base64."""
        for view in views(view_of(self.raw), with_itself=not self.is_json):
            yield view
            for start, end in base64_texts(view.text):
                if inner := decode_base64(view, start, end):
                    yield from views(inner, with_itself=True)


def pieces_at(raw: bytes, places: Iterable[int]) -> Iterator[Piece]:
    """Yields the pieces around the places: strings of a line of JSON that say something, else neighbouring lines of text."""
    starts = list(accumulate(map(len, raw.splitlines(keepends=True)), initial=0))
    text: list[int] = []
    for number in sorted({bisect_right(starts, place) - 1 for place in places}):
        line = raw[starts[number] : starts[number + 1]]
        strings = strings_of(line)
        if strings is None:
            text.append(number)
        for start, end in _said(line, strings or ()):
            yield Piece(line[start + 1 : end - 1], starts[number] + start + 1, is_json=True)
    for first, last in _stretches(text):
        start = starts[max(first - REACH, 0)]
        yield Piece(raw[start : starts[min(last + REACH, len(starts) - 2) + 1]], start, is_json=False)


def _stretches(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yields the first and last of numbers whose neighbourhoods touch."""
    first = last = None
    for number in numbers:
        if first is not None and last is not None and number - last > 2 * REACH:
            yield first, last
            first = None
        first, last = number if first is None else first, number
    if first is not None and last is not None:
        yield first, last


class _Hashing:
    """Keyed hashes of words; those of single words are kept, because texts repeat them."""

    def __init__(self, key: bytes) -> None:
        self._key = hashlib.sha256(key).digest()
        self._buckets: dict[str, str] = {}

    def bucket(self, word: str) -> str:
        """Returns the short hash of a normal word."""
        known = self._buckets.get(word)
        if known is None:
            known = self._buckets[word] = self._hash(word[:LONGEST_WORD].encode(), b"word", 3)
        return known

    def digest(self, words: Sequence[str]) -> str:
        """Returns the hash of a run of normal words."""
        return self._hash("\x1f".join(words).encode("utf-8", "surrogatepass"), b"words", 16)

    def _hash(self, content: bytes, person: bytes, size: int) -> str:
        return hashlib.blake2b(content, key=self._key, person=person, digest_size=size).hexdigest()


def bury(words: Sequence[str], key: bytes) -> Tombstone:
    """Returns the tombstone of a run of words, of which there must be one."""
    hashing, normal = _Hashing(key), [_normal(word) for word in words]
    place = max(range(len(normal)), key=lambda at: min(len(normal[at]), LONGEST_WORD))
    return Tombstone(hashing.digest(normal), len(normal), hashing.bucket(normal[place]), place)


def tombstones_of(store: Store) -> Tombstones:
    """Returns everything that is forgotten in the store; whatever takes texts in masks what these recognise."""
    return read_tombstones(store.ledger.events([WORDS_FORGOTTEN]), store.key)


def read_tombstones(events: Iterable[Event], key: bytes) -> Tombstones:
    """Returns the tombstones that stand in the ledger."""
    told: Iterator[Mapping[str, Any]] = (one for e in events if e.kind == WORDS_FORGOTTEN for one in e.payload["tombstones"])
    return Tombstones((Tombstone(**one) for one in told), key)


def unfinished(events: Sequence[Event]) -> list[Event]:
    """Returns the events that have words forgotten which are not erased everywhere yet."""
    erased = {event.target for event in events if event.kind == WORDS_ERASED}
    return [event for event in events if event.kind == WORDS_FORGOTTEN and event.id not in erased]


def masking(stones: Tombstones) -> Callable[[Sequence[bytes]], list[tuple[bytes, int]]]:
    """Returns what masks chunks of lines as capture does: secrets, counted, and then what is forgotten."""

    def mask(chunks: Sequence[bytes]) -> list[tuple[bytes, int]]:
        return [(stones.mask(content), count) for content, count in mask_all(chunks)]

    return mask


def rows_of(stones: Iterable[Tombstone]) -> list[dict[str, Any]]:
    """Returns tombstones as the ledger keeps them."""
    return [asdict(stone) for stone in stones]


def words_of(text: str) -> list[str]:
    """Returns the words of a text in normal form."""
    return [_normal(word) for word in _WORD.findall(text)]


def wrapped_places(raw: bytes) -> Iterator[int]:
    """Yields where something begins that may have to be unwrapped before its words can be read."""
    yield from (match.start() for match in _WRAPPED.finditer(raw))
    yield from (start for start, _ in base64_texts(raw))


def cover(raw: bytes, spans: Iterable[Span]) -> bytes:
    """Returns the bytes with asterisks in the spans."""
    covered = bytearray(raw)
    for start, end in spans:
        covered[start:end] = MASK * (end - start)
    return bytes(covered)


def _said(line: bytes, strings: Sequence[Span]) -> Iterator[Span]:
    """Yields the strings of a line of JSON that say something, the format's own keys and words left out."""
    key = b""
    for start, end in strings:
        word = line[start + 1 : end - 1]
        is_key = line[end : end + 8].lstrip().startswith(b":")
        is_form = bool(_NAME.fullmatch(word)) and (is_key or key in _FORM)
        key = word if is_key else key
        if not is_form:
            yield start, end


def _joined(text: str, words: Sequence[Span]) -> Iterator[Span]:
    start, end = words[0]
    for following, behind in words[1:]:
        if text[end:following].strip(" "):
            yield start, end
            start = following
        end = behind
    yield start, end


def _in_bytes(text: str, span: Span) -> Span:
    if text.isascii():
        return span
    start = len(text[: span[0]].encode("utf-8", "surrogateescape"))
    return start, start + len(text[span[0] : span[1]].encode("utf-8", "surrogateescape"))


def _normal(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold()
