"""Finds secrets in commands and requests: passwords given to commands, credentials, cookies.

The anchors find candidates in raw text; the finders read unwrapped text. `secret_values` judges the
values.
"""

import base64
import re
from collections.abc import Iterator

from memory_assets.text.masking.secret_tokens import Finder, finder_of
from memory_assets.text.masking.secret_values import is_bare_secret, is_secret_value
from memory_assets.text.masking.unwrap import Span
from memory_assets.text.patterns import byte_patterns_beside, texts_beside

_TEXTS = texts_beside(__file__)
_PATTERNS = byte_patterns_beside(__file__)


_IN_COMMANDS = tuple(byte_patterns_beside(__file__, "commands").values())
"""Passwords that are given to well-known commands and calls, or stored in their files."""

SCHEMES = _TEXTS["_schemes"]
_AUTHORIZATION = _PATTERNS["authorization"]


def is_credential(value: bytes) -> bool:
    """Returns whether the value is a secret where a token is expected."""
    return is_secret_value(value, quoted=True, password=False)


def is_password(value: bytes) -> bool:
    """Returns whether the value is a secret where a password is expected."""
    return is_secret_value(value, quoted=True, password=True)


def _has_basic_password(value: bytes) -> bool:
    """Returns whether a value that is `user:password` in base64 has a password worth masking.

    Any other value is worth masking.
    """
    try:
        user, colon, password = base64.b64decode(
            value + b"=" * (-len(value) % 4), validate=True
        ).partition(b":")
    except ValueError:
        return True
    return not colon or not (user + password).isascii() or is_password(password)


_COOKIES = tuple(byte_patterns_beside(__file__, "cookies").values())
_COOKIE = re.compile(rb"([\w.%$!-]{1,60})=([^\s;\"'`\\]{8,4000})")
_COOKIE_ATTRIBUTES = (b"path", b"domain", b"expires", b"max-age", b"samesite", b"priority")


def _find_cookies(text: bytes) -> Iterator[Span]:
    """Yields the values of cookies in headers and in curl's flags.

    Attributes of a cookie, such as Path, are no secrets.
    """
    for header in (header for pattern in _COOKIES for header in pattern.finditer(text)):
        for match in _COOKIE.finditer(text, *header.span(1)):
            if match[1].lower() not in _COOKIE_ATTRIBUTES and is_password(match[2]):
                yield match.span(2)


_VARIABLE = _PATTERNS["variable"]


def is_given(value: bytes) -> bool:
    """Returns whether the value is a password or a token, and no variable or placeholder."""
    return not _VARIABLE.fullmatch(value) and (is_password(value) or is_bare_secret(value))


def _is_phrase(words: bytes) -> bool:
    """Returns whether the words may be a recovery phrase, and are no sentence."""
    return _PATTERNS["ordinary_word"].search(words) is None


def _has_digit(codes: bytes) -> bool:
    """Returns whether the codes have a digit, which words in capitals have not."""
    return re.search(rb"[0-9]", codes) is not None


COMMANDS: tuple[Finder, ...] = (
    finder_of(lambda value: is_credential(value) and _has_basic_password(value), _AUTHORIZATION),
    finder_of(is_given, *_IN_COMMANDS),
    finder_of(is_given, _PATTERNS["user"], within=_PATTERNS["users"]),
)
PHRASES: tuple[Finder, ...] = (finder_of(_is_phrase, _PATTERNS["mnemonic"]),)
CODES: tuple[Finder, ...] = (
    finder_of(_has_digit, _PATTERNS["base32_groups"], _PATTERNS["code_list"]),
)
OPTIONS: tuple[Finder, ...] = (
    finder_of(is_given, *map(_PATTERNS.__getitem__, ("in_options", "glued", "zipped"))),
)
COOKIES: tuple[Finder, ...] = (
    _find_cookies,
    finder_of(is_password, _PATTERNS["member"], within=_PATTERNS["cookie_object"]),
    finder_of(is_password, _PATTERNS["named_cookie"], _PATTERNS["cookie_item"]),
)

COMMAND_ANCHOR = _TEXTS["_command_anchor"]
PHRASE_ANCHOR = _TEXTS["_phrase_anchor"]
CODE_ANCHOR = _TEXTS["_code_anchor"]
OPTION_ANCHOR = _TEXTS["_option_anchor"]
COOKIE_ANCHOR = _TEXTS["_cookie_anchor"]
