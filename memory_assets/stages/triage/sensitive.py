"""Finds proposals that only a person can approve: orders whose object is a download, a credential,
a host, a check that is switched off, data that is destroyed, a script or a package.

Takes the text of a proposal; returns the reason, or None. A line of MEMORY.md is an instruction for
every later session, and the owner's turns also contain text that others wrote. An attack by such
text has to make an agent do something; what only says how things are or were does not. In doubt a
sentence is an order (`english/moods.py`), and the proposal waits for a person.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator
from itertools import chain

from memory_assets.english.moods import is_statement
from memory_assets.stages.triage.own_hosts import without_hosts
from memory_assets.text.patterns import patterns_beside
from memory_assets.text.sentences import split_sentences
from memory_assets.text.words import squeezed

CREDENTIAL = "touches a credential"
HOST = "names a host or address"
CHECK = "switches a check off"

_ALWAYS = patterns_beside(__file__, "always")
_ORDERS = patterns_beside(__file__, "orders")
_MARKUP = re.compile(r"`|(?<!\*)\*{1,3}(?!\*)")
_WORDS_OF_NAME = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])_(?=[A-Z])")
"""Between the words of a name in code, such as `accessToken`."""

_FORBIDDEN = re.compile(
    r"(?i)\b(?:never|do not|don't|must not|may not|cannot) (?:(?!(?:without|need|forget|fail"
    r"|ask|before|and|then)\b)[\w'/-]+ ){0,4}$|\bno (?!need|longer|limit)(?:[\w-]+[ ,]+){0,4}$"
)
"""Text in front of what is forbidden: "never commit with --no-verify" switches nothing off."""

_EXCEPTION = re.compile(r"(?i)\b(?:unless|except|but|instead|if|only|fail to|forget to)\b")


def sensitive_reason(text: str, own_hosts: Collection[str] = ()) -> str | None:
    """Returns why only a person can approve the text, or None; `own_hosts` are those that the
    owner's own commands name.
    """
    kinds: list[str] = []
    for sentence in chain.from_iterable(map(split_sentences, _visible(text).splitlines())):
        words = without_hosts(_plain(sentence), own_hosts)
        kinds += [kind for kind, pattern in _ALWAYS.items() if pattern.search(words)]
        if not is_statement(sentence):
            kinds += _kinds_of(words)
    kinds = list(dict.fromkeys(kinds))
    return f"{' and '.join(kinds)}: only a person can approve this" if kinds else None


def names_host(text: str) -> bool:
    """Returns whether the text names a host or address."""
    return bool(_ORDERS[HOST].search(_plain(_visible(text))))


def _kinds_of(order: str) -> Iterator[str]:
    """Yields what the order does that needs a person, and does not forbid."""
    for kind, pattern in _ORDERS.items():
        words = _WORDS_OF_NAME.sub(" ", order) if kind in (CREDENTIAL, CHECK) else order
        starts = (match.start() for match in pattern.finditer(words))
        if not all(_is_forbidden(order, words[:start]) for start in starts):
            yield kind


def _is_forbidden(order: str, words_before: str) -> bool:
    is_forbidden = _FORBIDDEN.search(words_before) is not None
    return is_forbidden and not _EXCEPTION.search(order)


def _visible(text: str) -> str:
    """Returns the text without invisible characters, and with full-width letters as plain ones."""
    letters = unicodedata.normalize("NFKC", text).replace("’", "'")
    return "".join(letter for letter in letters if unicodedata.category(letter) != "Cf")


def _plain(text: str) -> str:
    """Returns the text without marks of code and emphasis."""
    return squeezed(_MARKUP.sub("", text))
