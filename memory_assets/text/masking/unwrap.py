"""Unwraps a text and remembers which bytes each decoded byte came from.

Takes bytes: a piece of a JSON line, or of decoded text. Returns views of them; each view has one
wrapping less than the view before. Wrappings are JSON escapes (once for every nesting of JSON in
JSON), the joints of a text that is written in parts, ANSI colours, the zeros of UTF-16, percent
encoding and HTML entities, base64, and invisible characters. A view maps any of its spans back to
the bytes that it was made from. These are always whole escapes, so that valid JSON stays valid if
they are replaced.
"""

import base64
import binascii
import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from memory_assets.text.visible import INVISIBLE

MAX_VIEWS = 8
"""Most texts that are made of one. Real transcripts nest three levels at most; the limit is against
hostile text.
"""

_ANSI = rb"\[[0-9;:?]{0,24}[A-Za-z]"
_ESCAPE = re.compile(
    rb'(\x1b%b|\x00|\\(?:(?:u001[bB]|033|x1[bB]|e)%b|u[0-9a-fA-F]{4}|["\\/bfnrt]))'
    % (_ANSI, _ANSI),
)
"""Each alternative of this and the other expressions begins with a fixed character, which is looked
for at the speed of `find`.
"""
_CODES = rb"%[0-9A-Fa-f]{2}|&(?:amp|quot|apos|lt|gt|#[0-9]{2,3}|#x[0-9a-fA-F]{2});"
_QUOTED = re.compile(rb"(%b)" % _CODES)
_QUERY = re.compile(rb"(%b|\+)" % _CODES)
_IN_QUERY = re.compile(rb"%[2-7][0-9A-Fa-f]|\?\w+=[\w.+-]*\+|&\w+=[\w.+-]*\+")
_JOINT = re.compile(
    rb"([\"'](?:[ \t]*(?:\.\.?|[+&~])[ \t]*(?:\n[ \t]*)?"
    rb"|;?[ \t]*\n[ \t]*(?:(?:\$?\w{1,60}[ \t]*[+.]=|[+.&~])[ \t]*)?)[\"']"
    rb"|[\"'],[ \t]*[\"'](?=[^\"'\n]{0,200}[\"'][^\[\n]{0,400}\][ \t]*\.join\()"
    rb"|(?<=[\w/+=-])\\\r?\n[ \t]*(?=[\w/+=-]))"
)
"""Between two parts of a text in code: an operator, a line break, the beginning of a line that adds
to the text, or a break after a backslash.
"""
_JOINT_SIGNS = (
    b'" +', b"' +", b'"+', b"'+", b'" .', b"' .", b'" &', b"(\n", b"=\n", b"\\\n",
    b"+=", b".join(",
)  # fmt: skip
"""What a text with joints has at least one of."""
_SHORT = {
    b"n": b"\n",
    b"t": b"\t",
    b"r": b"\r",
    b"b": b"\b",
    b"f": b"\f",
    b'"': b'"',
    b"\\": b"\\",
    b"/": b"/",
}
_ENTITIES = {b"&amp;": b"&", b"&quot;": b'"', b"&apos;": b"'", b"&lt;": b"<", b"&gt;": b">"}


def _any_of(words: Iterable[str]) -> str:
    """Returns a regular expression for the words.

    Words that differ only in their last character are one alternative of it.
    """
    endings: dict[str, str] = defaultdict(str)
    for word in words:
        endings[word[:-1]] += word[-1]
    return "|".join(f"{re.escape(beginning)}[{letters}]" for beginning, letters in endings.items())


_LETTERS = [chr(code) for code in sorted(INVISIBLE)]
INVISIBLE_BYTES = re.compile(
    _any_of(letter.encode().decode("latin-1") for letter in _LETTERS).encode("latin-1")
)
"""An invisible character in UTF-8."""
INVISIBLE_ESCAPE = rf"\\+u(?:{_any_of(json.dumps(letter)[3:-1] for letter in _LETTERS)})".replace(
    r"\\u", r"\\+u"
)
"""An invisible character as an escape of JSON, which may itself be escaped any number of times. The
expression is in small letters, and valid in the dialects of Python and Rust.
"""
_INVISIBLE = re.compile(rb"(%b|(?i:%b))" % (INVISIBLE_BYTES.pattern, INVISIBLE_ESCAPE.encode()))
Span = tuple[int, int]
"""The first byte, and the byte after the last one."""

_STAND_INS = bytes([*range(1, 9), *range(14, 27), *range(28, 32)])
PLAIN = bytes(range(128)) + bytes(_STAND_INS[byte % len(_STAND_INS)] for byte in range(128, 256))
"""Table that makes ASCII of any bytes, because text may be broken UTF-8. Control characters are the
stand-ins of other bytes, so that words of other alphabets can still be looked for.
"""

URL_SAFE = bytes.maketrans(b"-_", b"+/")


@dataclass(frozen=True, slots=True)
class View:
    """A text that was made from the text of `parent`.

    Its segment i is at `starts[i]` to `starts[i+1]`, and was made from the bytes `origins[i]` to
    `origins[i+1]` of the parent.
    """

    text: bytes
    starts: list[int]
    origins: list[int]
    parent: "View | None" = None

    def span(self, start: int, end: int) -> Span:
        """Returns the bytes of the outermost text that the non-empty span was made from."""
        first = self._origin(start)[0]
        last = self._origin(end - 1)[1]
        return self.parent.span(first, last) if self.parent else (first, last)

    def _origin(self, position: int) -> Span:
        """Returns where the byte at the position came from: one byte, or one whole escape."""
        index = bisect_right(self.starts, position) - 1
        start = self.starts[index]
        end = self.starts[index + 1]
        origin = self.origins[index]
        origin_end = self.origins[index + 1]
        if end - start != origin_end - origin:
            return origin, origin_end
        return origin + position - start, origin + position - start + 1

    def slice(self, start: int, end: int) -> "View":
        """Returns the view of a stretch of this one."""
        return View(self.text[start:end], [0, end - start], [start, end], self)


def view_of(text: bytes) -> View:
    """Returns the text as a view of itself."""
    return View(text, [0, len(text)], [0, len(text)])


def views(view: View, *, with_itself: bool) -> Iterator[View]:
    """Yields every text that unescaping the view repeatedly gives.

    The view itself is also yielded `with_itself`, or if it has no escapes.
    """
    waiting = [view]
    texts = {view.text}
    if with_itself or not _ESCAPE.search(view.text):
        yield view
    while waiting and len(texts) < MAX_VIEWS:
        current = waiting.pop(0)
        for inner in (unescape(current), unquote(current), unjoin(current)):
            if inner is not None and inner.text not in texts:
                texts.add(inner.text)
                waiting.append(inner)
                yield inner


def unescape(view: View) -> View | None:
    """Returns the view without one level of JSON escapes and without ANSI colours.

    Returns None if it has neither.
    """
    return _rewrite(view, _ESCAPE, _decode_escape)


def unquote(view: View) -> View | None:
    """Returns the view with percent encoding and HTML entities decoded once.

    Returns None if it has neither.
    """
    if not any(sign in view.text for sign in (b"%", b"&", b"+")):
        return None
    return _rewrite(view, _QUERY if _IN_QUERY.search(view.text) else _QUOTED, _decode_quoted)


def unjoin(view: View) -> View | None:
    """Returns the view with the parts of values that are written in parts put together.

    Returns None if it has none.
    """
    has_sign = any(sign in view.text for sign in _JOINT_SIGNS)
    return _rewrite(view, _JOINT, lambda _: b"") if has_sign else None


def without_invisible(view: View) -> View | None:
    """Returns the view without invisible characters, whether plain or as escapes of JSON.

    Returns None if it has none.
    """
    return _rewrite(view, _INVISIBLE, lambda _: b"")


def decode_base64(view: View, places: list[int]) -> View | None:
    """Returns a view of the decoded base64 whose letters are at the places of the view.

    Returns None if it cannot be decoded.
    """
    count = len(places) - (len(places) % 4 == 1)
    letters = bytes(map(view.text.__getitem__, places[:count]))
    try:
        text = base64.b64decode(letters.translate(URL_SAFE) + b"=" * (-count % 4))
    except (binascii.Error, ValueError):
        return None
    starts = [*range(0, len(text), 3), len(text)]
    origins = [*places[: 4 * (len(starts) - 1) : 4], places[count - 1] + 1]
    return View(text, starts, origins, view)


def _rewrite(
    view: View, pattern: re.Pattern[bytes], decode: Callable[[bytes], bytes]
) -> View | None:
    """Returns the view with every match of the pattern decoded, or None without a match.

    The whole pattern is one group.
    """
    pieces = pattern.split(view.text)
    if len(pieces) == 1:
        return None
    origins = [*accumulate(map(len, pieces), initial=0)]
    pieces[1::2] = map(decode, pieces[1::2])
    return View(b"".join(pieces), [*accumulate(map(len, pieces), initial=0)], origins, view)


@lru_cache(4_096)
def _decode_escape(escape: bytes) -> bytes:
    """Returns the bytes that one escape stands for.

    A colour or a zero gives none, half a surrogate pair a question mark.
    """
    if escape in (b"\x00", b"\\u0000") or (escape[-1:].isalpha() and b"[" in escape):
        return b""
    if escape[1:2] == b"u":
        return chr(int(escape[2:], 16)).encode("utf-8", "replace")
    return _SHORT[escape[1:]]


@lru_cache(1_024)
def _decode_quoted(quoted: bytes) -> bytes:
    """Returns the byte or character of a percent code or an entity."""
    if quoted.startswith(b"%"):
        return bytes([int(quoted[1:], 16)])
    if quoted == b"+":
        return b" "
    if quoted in _ENTITIES:
        return _ENTITIES[quoted]
    code = int(quoted[3:-1], 16) if quoted[2:3] in b"xX" else int(quoted[2:-1])
    return chr(code).encode() if 0 < code < 0x110000 else b"?"
