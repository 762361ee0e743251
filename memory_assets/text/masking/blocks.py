"""Joins the content blocks of a JSON line, as readers do, and remembers where each byte came from.

A secret may have its name in one block and its value in the next. Then neither block shows it
alone, but the joined text in the tables does. The joined text consists of the unescaped values of
`SAID_KEYS`, in the order of the line, with a line break behind each.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from memory_assets.text.masking.unwrap import Span, View, unescape, view_of

SAID_KEYS = "text|content|output|command"
"""Keys whose strings the readers of all harnesses join: texts, results of tools, commands and their
output.
"""

HAS_BLOCKS = rf'"(?:{SAID_KEYS})"[ \t]*:[ \t]*"[^"](?s:.)*"(?:{SAID_KEYS})"[ \t]*:[ \t]*"[^"]'
"""Matches a line with two or more such strings, in Rust's dialect of regular expressions."""

NAME_REACH = 600
"""Bytes at the end of a string in which the name of a secret is looked for."""

REACH = 4_000
"""Bytes at both ends of a string that may belong to the string before or after it."""

_SAID = re.compile(rf'"(?:{SAID_KEYS})"[ \t]*:[ \t]*"([^"\\]*(?:\\.[^"\\]*)*)"'.encode(), re.DOTALL)
_SECRET_NAMES = re.compile(
    rb"pass[wpc]|pwd|pswd|psk|secret|key|cred|connection|auth|jwt|bearer|dsn|token|_pass"
    rb"|-pass|_pw|-pw|_pat|-pat|value|begin|"
    rb"private-lines|login|akia|asia|cookie|mnemonic|seed|recovery|backup|kty|mysql|docker"
    rb"|default|result"
)
"""Only a block with one of these words at its end can name a secret in the next block. Joining all
blocks would be slow. The words are looked for in text in lower case.
"""
_HALF_ESCAPE = re.compile(rb"\\+(?:u[0-9a-fA-F]{0,3})?\Z")


@dataclass(frozen=True)
class Blocks:
    """The beginnings and ends of a line's strings as one text; view i begins at `starts[i]`."""

    text: bytes
    starts: list[int]
    views: list[View]

    def spans(self, start: int, end: int) -> Iterator[Span]:
        """Yields the spans of the line that a span of the joined text was made from.

        There is one for each string.
        """
        for index in range(
            bisect_right(self.starts, start) - 1, bisect_right(self.starts, end - 1)
        ):
            view = self.views[index]
            begin = self.starts[index]
            span_start = max(start - begin, 0)
            span_end = min(end - begin, len(view.text))
            if span_start < span_end:
                yield view.span(span_start, span_end)


def blocks_of(line: bytes) -> Blocks | None:
    """Returns the strings of the line that readers may join.

    Returns None if no string can name a secret in the next one.
    """
    said_spans = [match.span(1) for match in _SAID.finditer(line) if match[1]]
    if not any(
        _SECRET_NAMES.search(line[max(start, end - NAME_REACH) : end].lower())
        for start, end in said_spans[:-1]
    ):
        return None
    whole = view_of(line)
    views = list[View]()
    starts = list[int]()
    length = 0
    for start, end in (piece for span in said_spans for piece in _ends(line, span)):
        view = whole.slice(start, end)
        view = unescape(view) or view
        views.append(view)
        starts.append(length)
        length += len(view.text) + 1
    return Blocks(b"\n".join(view.text for view in views), starts, views)


def _ends(line: bytes, span: Span) -> Iterator[Span]:
    """Yields the span of a short string, or those of the beginning and the end of a long one.

    A half escape at the cut is left out.
    """
    start, end = span
    if end - start <= 2 * REACH:
        yield start, end
        return
    yield start, start + len(_HALF_ESCAPE.sub(b"", line[start : start + REACH]))
    at = end - REACH
    torn = _HALF_ESCAPE.search(line, start, at)
    yield (torn.start() if torn else at), end
