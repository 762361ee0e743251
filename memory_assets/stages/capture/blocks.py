"""Reads the content blocks of a JSON line as the one text that readers make of them, and remembers where each byte came from.

A raw line comes in; out comes what stands under the keys that hold what was said, unescaped, in the order of the line, a line
break after each. A secret may have its name in one block and its value in the next: neither tells of it alone, the text that
tables hold does. What is a secret is decided elsewhere.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from memory_assets.stages.capture.formats.unwrap import View, unescape, view_of

SAID_KEYS = "text|content|output|command"
"""Keys whose strings the readers of all harnesses join: blocks of text, results of tools, a command and what it printed."""

HAS_BLOCKS = rf'"(?:{SAID_KEYS})"[ \t]*:[ \t]*"[^"](?s:.)*"(?:{SAID_KEYS})"[ \t]*:[ \t]*"[^"]'
"""Finds lines with two of them or more, in Rust's dialect."""

TELLING_REACH = 600
REACH = 4_000
"""Bytes at the end of a string and at its beginning that may belong to what stands in the next one and in the one before."""

_SAID = re.compile(rf'"(?:{SAID_KEYS})"[ \t]*:[ \t]*"([^"\\]*(?:\\.[^"\\]*)*)"'.encode(), re.DOTALL)
_TELLING = re.compile(
    rb"pass[wpc]|pwd|pswd|secret|key|credential|connection|auth|jwt|bearer|dsn|token|[_-]pass|[_-]pat|value|begin|private-lines|"
    rb"login|akia|asia|cookie|mnemonic|seed|recovery|backup|kty|mysql|docker|default|result",
    re.IGNORECASE,
)
"""Without one of these at its end a block tells nothing of the next; looking at all of them would take longest of all."""
_HALF_ESCAPE = re.compile(rb"\\+(?:u[0-9a-fA-F]{0,3})?\Z")

Span = tuple[int, int]


@dataclass(frozen=True)
class Blocks:
    """The ends of the strings of a line as one text; view i begins at `starts[i]`."""

    text: bytes
    starts: list[int]
    views: list[View]

    def spans(self, start: int, end: int) -> Iterator[Span]:
        """Yields the bytes of the line that the span was made from, those of each string by themselves."""
        for index in range(bisect_right(self.starts, start) - 1, bisect_right(self.starts, end - 1)):
            view, begin = self.views[index], self.starts[index]
            left, right = max(start - begin, 0), min(end - begin, len(view.text))
            if left < right:
                yield view.span(left, right)


def blocks_of(line: bytes) -> Blocks | None:
    """Returns the strings of the line that readers may join; nothing where none can tell of a secret in the one behind it."""
    said = [match.span(1) for match in _SAID.finditer(line) if match[1]]
    if not any(_TELLING.search(line, max(start, end - TELLING_REACH), end) for start, end in said[:-1]):
        return None
    whole = view_of(line)
    views, starts, length = list[View](), list[int](), 0
    for start, end in (piece for span in said for piece in _ends(line, span)):
        view = whole.slice(start, end)
        view = unescape(view) or view
        views.append(view)
        starts.append(length)
        length += len(view.text) + 1
    return Blocks(b"\n".join(view.text for view in views), starts, views)


def _ends(line: bytes, span: Span) -> Iterator[Span]:
    """Yields a short string as a whole, of a long one its beginning and its end, no escape torn."""
    start, end = span
    if end - start <= 2 * REACH:
        yield start, end
        return
    yield start, start + len(_HALF_ESCAPE.sub(b"", line[start : start + REACH]))
    at = end - REACH
    torn = _HALF_ESCAPE.search(line, start, at)
    yield (torn.start() if torn else at), end
