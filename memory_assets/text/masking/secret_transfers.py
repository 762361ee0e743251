"""Finds secrets that are handed to what takes them, and those that only their surroundings show.

A value may be printed into a command or a file that is named after a secret, be an argument of a
call that opens a session, or be an entry of a manifest of Kubernetes. The lines before the end of a
private key are its body, also if its first line was cut off.
"""

import base64
import binascii
import re
from collections.abc import Iterator

from memory_assets.text.masking.secret_commands import is_credential, is_given, is_password
from memory_assets.text.masking.secret_tokens import Finder, finder_of
from memory_assets.text.masking.secret_values import is_random, variety
from memory_assets.text.masking.unwrap import Span
from memory_assets.text.patterns import byte_patterns_beside, texts_beside

_TEXTS = texts_beside(__file__)
_PATTERNS = byte_patterns_beside(__file__)
_MOST_KEY_LINES = 400


def _find_arguments(text: bytes) -> Iterator[Span]:
    """Yields the arguments of calls that open a session, such as `ApiClient("ann", "…")`.

    Each is a token, or a password behind the name of a user; cookies are not given passwords.
    """
    for call in _PATTERNS["call"].finditer(text):
        is_secret = is_credential
        takes_password = not call[0].lower().startswith(b"cookie")
        for argument in _PATTERNS["argument"].finditer(text, *call.span(1)):
            if is_secret(argument[1]) and not _PATTERNS["no_argument"].fullmatch(argument[1]):
                yield argument.span(1)
            is_user = takes_password and _PATTERNS["user"].fullmatch(argument[1])
            is_secret = is_password if is_user else is_credential


def _find_in_heredocs(text: bytes) -> Iterator[Span]:
    """Yields the lines of a heredoc that are one word each, if it is written to a secret's file."""
    end = 0
    for opening in _PATTERNS["heredoc"].finditer(text):
        if opening.start() < end:
            continue
        command_start = text.rfind(b"\n", 0, opening.start()) + 1
        if not _PATTERNS["taker"].search(text, command_start, opening.end()):
            continue
        closing = text.find(b"\n" + opening[1], opening.end() - 1)
        end = closing if closing >= 0 else len(text)
        lines = _PATTERNS["line"].finditer(text, opening.end(), end)
        yield from (line.span(1) for line in lines if is_given(line[1]))


def _find_entries(text: bytes) -> Iterator[Span]:
    """Yields the values of a secret of Kubernetes, whatever the entries are called."""
    if not _PATTERNS["is_manifest"].search(text):
        return
    for entries in _PATTERNS["entries"].finditer(text):
        for entry in _PATTERNS["entry"].finditer(text, *entries.span(1)):
            decoded = _decoded(entry[1])
            is_value = bool(decoded) or entries[0].startswith(b"stringData")
            if is_value and (is_given(entry[1]) or is_given(decoded)):
                yield entry.span(1)


def _decoded(value: bytes) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error:
        return b""


def _find_key_tails(text: bytes) -> Iterator[Span]:
    """Yields the lines of base64 that lead up to the end of a private key."""
    key_start = 0
    for key_end in _PATTERNS["key_end"].finditer(text):
        lines = list(_lines_before(text, key_start, key_end.start()))
        key_start = key_end.end()
        body = b"".join(text[start:end] for start, end in lines)
        if len(body) >= 24 and is_random(body, 0.3):
            yield lines[-1][0], lines[0][1]


def _lines_before(text: bytes, key_start: int, end: int) -> Iterator[Span]:
    """Yields the lines of base64 between the positions, the last one first."""
    for number in range(_MOST_KEY_LINES):
        start = max(text.rfind(b"\n", key_start, end) + 1, key_start)
        short = _PATTERNS["key_last_line"].match(text, start, end) if number < 3 else None
        line = short or _PATTERNS["key_line"].search(text, start, end)
        if line is None:
            return
        if line[1]:
            yield line.span(1)
        if start == key_start or line.start() > start:
            return
        end = start - 1


_RAW_ARGUMENT = re.compile(rb"[\"'`]([^\n\"'`\\]{8,400})\\*[\"'`]")


def has_argument(text: bytes, start: int, end: int) -> bool:
    """Returns whether a call has an argument that may be more than a word or a name."""
    values = _RAW_ARGUMENT.finditer(text, start, end + 200)
    return any(variety(value[1]) >= 3 or is_random(value[1], 0.3) for value in values)


def may_be_taken(text: bytes, start: int, end: int) -> bool:
    """Returns whether a printed text, or the line of a heredoc, goes to what takes a secret."""
    if text[start : start + 1] in b"epW":
        return _PATTERNS["is_taken"].match(text, end, end + 450) is not None
    is_heredoc = text.startswith(b"<<", start)
    taker = _PATTERNS["taker"].search(text, max(start - 200, 0), end + 200)
    return not is_heredoc or taker is not None


TRANSFERS: tuple[Finder, ...] = (
    finder_of(is_given, *byte_patterns_beside(__file__, "transfers").values()),
    _find_in_heredocs,
)
CALLS: tuple[Finder, ...] = (_find_arguments,)
MANIFESTS: tuple[Finder, ...] = (_find_entries,)
KEY_TAILS: tuple[Finder, ...] = (_find_key_tails,)

TRANSFER_ANCHOR = _TEXTS["_transfer_anchor"]
CALL_ANCHOR = _TEXTS["_call_anchor"]
MANIFEST_ANCHOR = r"kind\\*[\"']?: ?\\*[\"']?Secret"
KEY_TAIL_ANCHOR = "-- ?END [A-Z0-9 ]*PRIVATE KEY"
