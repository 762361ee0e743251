"""Splits texts into search terms: stemmed words, and code whole and in parts.

A path, an identifier, a flag, a version or an id is one term as a whole and further terms for its
pieces, so that `src/fooBar.py` is found by the path, by `fooBar.py`, by `fooBar`, and by foo or
bar. Words are stemmed (Snowball, English); accents and case are ignored. In scripts without spaces,
each pair of neighbouring characters is a term. Question words and other stop words are removed from
queries only (worth six points of recall@5 on dialogue).

`bm25` scores words in every search. k1 and b are those of Robertson and Zaragoza 2009 for short
texts (1.2, 0.4): b at the usual 0.75 loses two points of recall@10 on dialogue.
"""

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
import Stemmer

K1, B = 1.2, 0.4


def idf(total: int, matching: int) -> float:
    """Returns the inverse document frequency of a term that `matching` of `total` texts contain."""
    return float(np.log1p((total - matching + 0.5) / (matching + 0.5)))


def bm25_norms(lengths: np.ndarray, mean_length: float) -> np.ndarray:
    """Returns what `bm25` adds to the counts in texts of these lengths: more for longer texts."""
    return K1 * (1 - B + B * lengths / mean_length)


def bm25(
    counts: np.ndarray, norms: np.ndarray, total: int, matching: int | None = None
) -> np.ndarray:
    """Returns the scores of one term for texts that contain it.

    Takes its count in each of these texts, their `bm25_norms`, and the number of all texts.
    `matching` is the number of all texts that contain the term, if only some of them are scored.
    """
    text_count = len(counts) if matching is None else matching
    weight = idf(total, text_count) * (K1 + 1)
    return counts / (counts + norms) * weight


LONGEST_QUERY = 64
"""Terms of a query that are looked up."""

LONGEST_WHOLE = 200
"""Characters of a compound that is also a term as a whole; for longer ones the pieces suffice."""

STOP_WORDS = frozenset(
    """a about above after again against all also am an and any are as at be because been before
    being below between both but by can cannot could did do does doing done down during each few for
    from further had has have having he her here hers him his how i if in into is it its itself just
    let me more most my no nor not of off on once only or other our ours out over own same shall she
    should so some such than that the their theirs them then there these they this those through to
    too under until up us very was we were what when where which while who whom why will with would
    you your yours""".split()
)
_CUT_OFF = frozenset(
    "s t d m ll re ve don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn "
    "haven hadn".split()
)
"""Parts of stop words with an apostrophe: what's, don't, we'll."""

# Python's \w lacks the vowel signs of these scripts, Devanagari to Burmese and Khmer; without them
# words fall to letters.
_SIGNS = "\u0900-\u109f\u1780-\u17ff"
_TOKEN = re.compile(rf"(?:--?|[./~@#_]{{1,3}})?[^\W_][\w{_SIGNS}./:@#~+\\-]*")
_NAME = re.compile(r"(?:--?|[.@#])?(?=[^\W_]).+", re.DOTALL)
_BETWEEN = (re.compile(r"[/\\:@#~+]+"), re.compile(r"\.+"), re.compile(r"-+"))
_WORD = re.compile(rf"[^\W_][^\W_{_SIGNS}]*(?:[{_SIGNS}]+[^\W_]*)*")
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PLURAL = re.compile(r"[A-Z]+s")
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+)"
)
"""A run of a script without spaces. Split by it, a text gives other text and runs in turn."""
_MARKS = re.compile("[\u00ad\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u200b-\u200d\ufeff]")

_local = threading.local()


def text_terms(text: str) -> list[str]:
    """Returns the terms of a text in order, repeats included."""
    return [term for token in _tokens(text) for term, _ in _pairs_of(token)]


def query_terms(query: str) -> list[str]:
    """Returns the terms of a question, each once, in order.

    Stop words are left out, unless the question has nothing else.
    """
    pairs = [pair for token in _tokens(query) for pair in _pairs_of(token)]
    content = [term for term, word in pairs if word not in STOP_WORDS and word not in _CUT_OFF]
    terms = content or [term for term, _ in pairs]
    return list(dict.fromkeys(terms))[:LONGEST_QUERY]


@lru_cache(maxsize=65_536)
def key_of(term: str) -> int:
    """Returns the term's hash, the same in every process and release."""
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def count_terms(texts: Sequence[str]) -> pl.DataFrame:
    """Returns how often each text has each of its terms, sorted by text and term.

    The columns are `text` (its number), `key` (the hash of a term) and `count`.
    """
    counters = [Counter(chain.from_iterable(map(_keys_of, _tokens(text)))) for text in texts]
    numbers = np.repeat(np.arange(len(counters)), list(map(len, counters)))
    keys = np.fromiter(chain.from_iterable(counters), dtype=np.uint64)
    term_counts = chain.from_iterable(counter.values() for counter in counters)
    counts = np.fromiter(term_counts, dtype=np.int64)
    return pl.DataFrame({"text": numbers, "key": keys, "count": counts}).sort("text", "key")


@lru_cache(maxsize=65_536)
def _keys_of(token: str) -> tuple[int, ...]:
    """Returns the keys of the terms of a token."""
    return tuple(key_of(term) for term, _ in _expand(token))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text if text.isascii() else _without_marks(text))


def _without_marks(text: str) -> str:
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text)))


@lru_cache(maxsize=16_384)
def _pairs_of(token: str) -> tuple[tuple[str, str], ...]:
    """Returns what `_expand` yields: a question and its candidates have the same words."""
    return tuple(_expand(token))


def _expand(token: str) -> Iterator[tuple[str, str]]:
    """Yields the terms of a token, each with the word that it is made of: a name with itself."""
    whole = token.rstrip("./:@~-_\\")
    words = _WORD.findall(whole)
    if not words:
        return
    if len(words) > 1 or whole != words[0]:
        yield from ((name, name) for name in _names(whole))
    for word in words:
        yield from _word_terms(word)


def _names(whole: str) -> Iterable[str]:
    """Returns the compound, and its pieces that are compounds, too.

    A version gives its first two numbers, its first three, and so on.
    """
    if len(whole) > LONGEST_WHOLE:
        return ()
    names = dict.fromkeys(_forms(whole))
    pieces = [whole]
    for between in _BETWEEN:
        if between.search(whole):
            pieces = [part for piece in pieces for part in between.split(piece)]
            names.update((name, None) for piece in pieces for name in _forms(piece))
    for version in _VERSION.findall(whole):
        numbers = version.split(".")
        names.update(dict.fromkeys(".".join(numbers[:size]) for size in range(2, len(numbers) + 1)))
    return names


def _forms(piece: str) -> Iterable[str]:
    """Returns a compound in lower case, with and without its leading dashes."""
    if piece.isalnum() or _UNSPACED.search(piece):
        return ()
    match = _NAME.search(piece)
    if match is None:
        return ()
    name = match.group().rstrip("_").casefold()
    return [form for form in dict.fromkeys((name, name.lstrip("-"))) if not form.isalnum()]


def _word_terms(word: str) -> Iterator[tuple[str, str]]:
    if _UNSPACED.search(word):
        yield from _unspaced_terms(word)
        return
    yield _stem(word.casefold()), word.casefold()
    parts = _CAMEL.split(word)
    if len(parts) > 1 and not _PLURAL.fullmatch(word):
        yield from ((_stem(part), part) for part in map(str.casefold, parts))


def _unspaced_terms(word: str) -> Iterator[tuple[str, str]]:
    for index, part in enumerate(_UNSPACED.split(word)):
        if index % 2:  # a run of a script without spaces
            pairs = [part[at : at + 2] for at in range(len(part) - 1)] or [part]
            yield from ((pair, pair) for pair in pairs)
        elif part:
            yield from _word_terms(part)


@lru_cache(maxsize=262_144)
def _stem(word: str) -> str:
    if not hasattr(_local, "stemmer"):
        _local.stemmer = Stemmer.Stemmer("english")  # not safe to share between threads
    stemmer: Any = _local.stemmer
    return stemmer.stemWord(word)
