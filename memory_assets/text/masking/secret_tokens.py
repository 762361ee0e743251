"""Finds tokens that a vendor gives a recognisable shape.

Most begin with a fixed prefix. Those of `SHAPES` begin with any letter or digit, so that their
anchor is on a rare part of the token; all of them are looked for at once. `secret_patterns` says
what anchors and finders are.
"""

import re
from collections.abc import Callable, Iterator

from memory_assets.text.masking.secret_values import is_vendor_token
from memory_assets.text.masking.unwrap import Span
from memory_assets.text.patterns import data_beside

Finder = Callable[[bytes], Iterator[Span]]

_BOUND = r"\b"
"""At the beginning of a prefix: there is no letter or digit before it. An `_` is allowed, as in the
name of a variable.
"""

_CLASSES = {
    "alnum": "[A-Za-z0-9]", "name": "[A-Za-z0-9_]", "word": "[A-Za-z0-9_-]",
    "dotted": "[A-Za-z0-9_.-]", "hex": "[0-9a-f]",
    "upper": "[A-Z0-9]", "lower": "[a-z0-9]", "base64": "[A-Za-z0-9+/]",
    "uuid": "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
}  # fmt: skip
"""Names of sets of characters, written as `<hex>` in the tables. Other sets are written out, as in
`<0-9a-fA-F>`.
"""


def _read_table(table: str) -> tuple[tuple[str, str], ...]:
    """Returns the regular expressions of each token's prefix and rest.

    The table has a word `vendor=prefix<characters>{length}` for each token.
    """
    splits = (word.partition("=")[2].partition("<") for word in table.split())
    classes = re.compile("<([^<>]+)>")
    return tuple(
        (prefix, classes.sub(lambda name: _CLASSES.get(name[1], f"[{name[1]}]"), "<" + token))
        for prefix, _, token in splits
    )


_DATA = data_beside(__file__)
_TOKENS = _read_table(_DATA["tokens"])
_PARAMETERS = _read_table(_DATA["parameters"])
"""Secrets in addresses and connection strings: the prefix is not secret and stays."""

_LITERAL = re.compile(r"(?:[A-Za-z0-9_-](?![?*{]))*")
"""The fixed letters at the beginning of a prefix. Looking for them first is ten times faster than
searching with the whole expression.
"""


def finder_of(
    is_secret: Callable[[bytes], bool],
    *patterns: re.Pattern[bytes],
    within: re.Pattern[bytes] | None = None,
) -> Finder:
    """Returns a finder of the first groups of the patterns, if they are secrets.

    With `within`, they are looked for in its first groups only: the members of a list.
    """

    def find(text: bytes) -> Iterator[Span]:
        places = [match.span(1) for match in within.finditer(text)] if within else [(0, len(text))]
        for place in places:
            for pattern in patterns:
                matches = pattern.finditer(text, *place)
                yield from (match.span(1) for match in matches if is_secret(match[1]))

    return find


def token_finder(prefix: str, token: str, *, keeps_prefix: bool = False) -> Finder:
    """Returns the finder of one vendor's tokens.

    The part behind the prefix decides whether a token is real.
    """
    is_bounded = prefix.startswith(_BOUND)
    pattern = re.compile(f"{prefix.removeprefix(_BOUND)}({token})".encode())
    literal = _LITERAL.match(prefix.removeprefix(_BOUND))[0].encode()  # pyright: ignore[reportOptionalSubscript]

    def find(text: bytes) -> Iterator[Span]:
        for match in pattern.finditer(text) if literal in text else ():
            is_in_word = is_bounded and text[match.start() - 1 : match.start()].isalnum()
            if not is_in_word and is_vendor_token(match[1]):
                yield match.span(1 if keeps_prefix else 0)

    return find


def _token_anchor(prefix: str, token: str) -> str:
    """Returns the anchor of a token: its prefix, and up to twelve characters of the rest."""
    first = re.match(r"(\[[^\]]+\])\{(\d+)", token)
    begin = f"{first[1]}{{{min(int(first[2]), 12)}}}" if first else token.partition("{")[0]
    return prefix.removeprefix(_BOUND) + begin


_AWS_PAIR = re.compile(
    rb"(?:AKIA"
    rb"|ASIA)[A-Z0-9]{16}[\s\S]{1,240}?(?<![A-Za-z0-9/+=])([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
)
_find_aws_secret = finder_of(
    lambda key: is_vendor_token(key) and not re.fullmatch(rb"[0-9a-f]+", key), _AWS_PAIR
)
"""Finds the secret key within a few lines after an access key id, whatever it is called."""

ANCHORS = tuple(_token_anchor(*token) for token in (*_TOKENS, *_PARAMETERS))
FINDERS: tuple[Finder, ...] = (
    *(token_finder(*token) for token in _TOKENS),
    *(token_finder(*token, keeps_prefix=True) for token in _PARAMETERS),
    _find_aws_secret,
)

_SHAPES = [
    [part.replace("<<_azure>>", _DATA["_azure"]) for part in parts]
    for parts in _DATA["shapes"].values()
]
SHAPES: tuple[Finder, ...] = tuple(token_finder(begin, rest) for begin, rest, _ in _SHAPES)
SHAPE_ANCHOR = "|".join(anchor for _, _, anchor in _SHAPES)
