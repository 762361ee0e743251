"""Judges whether a value looks like a secret or like a word, a name, a number or a placeholder.

The judgement is based on pairs of neighbouring letters. In words and identifiers of code nearly all
pairs are common ones, in random strings only about a third. There is no dictionary, and no vendor's
format is known here (those are in `secret_tokens`).
"""

import re
from itertools import pairwise, repeat
from string import ascii_lowercase, ascii_uppercase, digits

from memory_assets.text.patterns import byte_patterns_beside

_FOLLOWERS = """
    a:bcdgilmnprstuy b:aeilorsu c:acehiklorstu d:adeilorsu e:acdefglmnprstvwxy f:aefiloru g:ehinrs
    h:aeiot i:abcdefglmnoprstvz k:e l:adeilostuy m:abeimopsu n:acdefgiostu o:bcdfgklmnoprstuvw
    p:aehiloprstuy q:u r:acdegilmnoprstuy s:acehilopstuy t:acehiloprstuy u:abceilmnprst v:aei w:aei
    x:pt y:p z:e
    """.split()
_COMMON_PAIRS = frozenset(word[0] + follower for word in _FOLLOWERS for follower in word[2:])
"""The 220 commonest letter pairs among the words of Python's own sources; they cover 88 % of the
pairs there.
"""

RANDOM_SHARE = 0.42
"""Random base62 has about 0.75 of its pairs uncommon, words about 0.12; fewer than 2 % of words
reach this share.
"""

LONG_SHARES = ((28, 0.3), (20, 0.33))
"""Length → share that is enough for a value of that length. Only 0.8 % and 0.6 % of the identifiers
in this project's dependencies reach these shares.
"""

LONG = 32
"""From this length on, a random value is not taken for a regular expression, nor for a value that
was cut with dots or asterisks.
"""

MIXED_SHARE = 0.3
"""The share that is enough for a value with both cases and digits, which words seldom have."""

_COMMON, _SURPRISE, _COMMON_HUMP, _SURPRISING_HUMP = 1, 2, 3, 4
"""A hump is a lower-case letter before an upper-case one; camelCase has one in six or more letters.
"""


def _judge(previous: str, following: str) -> int:
    """Returns whether a pair of characters is common or a surprise; 0 when it says nothing."""
    if (
        previous in "-_./:, "
        or following in "-_./:, "
        or (previous.isdigit() and following.isdigit())
    ):
        return 0
    is_common = previous.lower() + following.lower() in _COMMON_PAIRS
    if previous.islower() and following.isupper():
        return _COMMON_HUMP if is_common else _SURPRISING_HUMP
    return _COMMON if is_common else _SURPRISE


_CHARACTERS = [chr(number) for number in range(256)]
_PAIRS = tuple(bytes(map(_judge, repeat(previous), _CHARACTERS)) for previous in _CHARACTERS)

_PATTERNS = byte_patterns_beside(__file__)
_TEMPLATE = _PATTERNS["template"]
_LEFT_OUT = re.compile(rb"\*{3}|\.{3}")
_REGEX = re.compile(rb"\(\?[:!=P]|\[(?:\^|[aA0]-|\\[a-z])")
_BRACKETS = re.compile(rb"[(){}\[\]][^(){}\[\]]{0,40}[(){}\[\]]")
_PATH = _PATTERNS["path"]
_ADDRESS = re.compile(rb"(?!base64:)[\s\S]*://")
"""Laravel writes its key as base64:…, and a slash may be the first of it."""
_TOY_JWT = re.compile(rb"eyJ[\w-]+\.(?:eyJ[\w-]+\.)?[\w-]{0,12}")
"""A signature has more than twelve characters; this is a token of a test."""
AWS_SECRET = re.compile(rb"(?=.*[0-9])(?=.*[A-Z])[A-Za-z0-9/+]{40}")
"""The length and the letters of a secret access key of AWS."""
_LETTERS = tuple(map(str.encode, (ascii_lowercase, ascii_uppercase, digits, "!#$%^&*?~+=@")))
_KINDS = bytes(
    next((kind for kind, letters in enumerate(_LETTERS, 1) if byte in letters), 0)
    for byte in range(256)
)
"""Table of the four kinds of characters that rules for passwords demand; 0 for all others."""
_FILE_OR_HOST = _PATTERNS["file_or_host"]
_CODES = re.compile(rb"[0-9a-f-]{20,}|[A-Z0-9]{16,}")
"""Hex may have too few letters to judge, and so many capitals without an underscore are seldom a
name.
"""
_WORD = re.compile(rb"[A-Za-z][a-z]{2}|[A-Z]{3}")
"""Three letters in a row as words have them; a drawn password seldom has so many without a digit or
a change of case.
"""
_DIGITS = re.compile(rb"[0-9]{2}")
_HEX = re.compile(rb"(?:0x)?[0-9a-fA-F]+")
_UUID = re.compile(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_GROUPS = re.compile(rb"(?i)[a-z0-9]{4}(?:[ -][a-z0-9]{4}){2,15}")
_NUMBER = re.compile(rb"[-+]?[0-9][0-9_.,:/TZ+-]*[a-zA-Z%]{0,3}")


def is_placeholder(value: bytes) -> bool:
    """Returns whether the value is a placeholder of a secret.

    A random value is none, even if it contains one of the words of placeholders by chance.
    """
    steps = sum(following - previous == 1 for previous, following in pairwise(value))
    if len(set(value)) <= 4 or steps > 0.5 * (len(value) - 1) or _TEMPLATE.search(value):
        return True
    if _LEFT_OUT.search(value) and not _is_long_and_random(value):
        return True
    return _PATTERNS["placeholder"].search(value) is not None and not is_random(value, 0.5)


def is_random(value: bytes, share: float = RANDOM_SHARE) -> bool:
    """Returns whether the value reads like generated characters and not like words.

    The first 400 characters decide.
    """
    value = value[:400]
    judged = bytes([_PAIRS[previous][following] for previous, following in pairwise(value)])
    common, surprises, common_humps, surprising_humps = (
        judged.count(kind) for kind in (1, 2, 3, 4)
    )
    surprises += surprising_humps
    if 5 * (common_humps + surprising_humps) >= len(value):
        surprises += common_humps
    else:
        common += common_humps
    return surprises + common >= 4 and surprises >= share * (surprises + common)


def is_vendor_token(value: bytes) -> bool:
    """Returns whether the part of a token after its vendor's prefix belongs to a real token."""
    if is_placeholder(value):
        return False
    return (
        is_random(value, 0.25)
        or _CODES.fullmatch(value) is not None
        or (variety(value) >= 3 and is_random(value, 0.1))
    )


def is_bare_secret(value: bytes) -> bool:
    """Returns whether a value is a secret in a place without code, as in a URL or after a flag.

    The conditions are weaker than those of `is_secret_value`.
    """
    return (
        len(value) >= 12
        and variety(value) >= 2
        and not is_placeholder(value)
        and is_random(value, 0.15)
    )


def is_secret_value(value: bytes, *, quoted: bool, password: bool) -> bool:
    """Returns whether a value that is assigned to the name of a secret is one.

    Passwords may be shorter than tokens.
    """
    if _is_something_else(value, quoted=quoted, password=password):
        return False
    if _NUMBER.fullmatch(value):
        return password and value.isdigit()
    if _HEX.fullmatch(value):
        return len(value) >= 16 and len(set(value)) >= 8
    if _UUID.fullmatch(value) or (password and is_varied(value)):
        return True
    if _GROUPS.fullmatch(value):
        return is_random(value)
    return (password or b" " not in value) and _is_drawn(value, quoted)


def _is_something_else(value: bytes, *, quoted: bool, password: bool) -> bool:
    if not (8 if password else 12) <= len(value) <= 4_000:
        return True
    if _ADDRESS.match(value) or is_placeholder(value):
        return True
    return _is_path_or_code(value, quoted=quoted, password=password)


def _is_drawn(value: bytes, quoted: bool) -> bool:
    """Returns whether enough of the value is random, for its length."""
    if quoted and len(value) >= 12 and variety(value) >= 3:
        return is_random(value, MIXED_SHARE)
    share = next((share for length, share in LONG_SHARES if len(value) >= length), RANDOM_SHARE)
    return is_random(value, share) and (variety(value) >= 2 or len(value) >= 20)


def _is_path_or_code(value: bytes, *, quoted: bool, password: bool) -> bool:
    """Returns whether the value is a path, code, a regular expression or a token of a test."""
    if _TOY_JWT.fullmatch(value) or (_REGEX.search(value) and not _is_long_and_random(value)):
        return True
    if _is_path(value) and not _is_aws_secret(value) and not (password and _is_no_file(value)):
        return True
    return not quoted and _is_code(value) and not (password and _is_no_name(value))


def _is_code(value: bytes) -> bool:
    """Returns whether an unquoted value is a name or a call in code, and not random."""
    if _BRACKETS.search(value):
        return True
    return _PATTERNS["code"].fullmatch(value) is not None and not (_is_generated(value))


def _is_path(value: bytes) -> bool:
    """Returns whether a value is a path, a file's name or an address.

    A value without a slash is none if its letters are random.
    """
    return _PATH.fullmatch(value) is not None and not (b"/" not in value and _is_generated(value))


def _is_no_file(value: bytes) -> bool:
    """Returns whether a value with a dot is varied as a password, and ends like no file or host."""
    return (
        b"/" not in value
        and b"\\" not in value
        and is_varied(value)
        and not _FILE_OR_HOST.search(value)
    )


def _is_no_name(value: bytes) -> bool:
    """Returns whether a value with dots is varied like a password, and unlike a name in code.

    It is random, or contains no word.
    """
    return is_varied(value) and (is_random(value, 0.25) or not _WORD.search(value))


def _is_aws_secret(value: bytes) -> bool:
    """Returns whether a value with slashes has the form of a secret key of AWS, and is random."""
    return AWS_SECRET.fullmatch(value) is not None and is_random(value)


def _is_long_and_random(value: bytes) -> bool:
    return len(value) >= LONG and is_random(value)


def _is_generated(value: bytes) -> bool:
    """Returns whether a value is no name that a person would give.

    It consists of random letters and digits, or of many random letters.
    """
    return is_random(
        value, 0.35 if variety(value) >= 3 or len(value) >= LONG_SHARES[0][0] else 0.55
    ) and (variety(value) >= 3 or len(value) >= 14)


def is_varied(value: bytes, kinds: int = 3) -> bool:
    """Returns whether a value is what rules for passwords demand: of enough kinds of characters."""
    if len(value) < 8 or b" " in value or value.startswith(b"$"):
        return False
    if variety(value) >= kinds:
        return True
    return (
        kinds == 3
        and variety(value) == 2
        and bool(_DIGITS.search(value))
        and not _PATTERNS["test_word"].search(value)
    )


def is_file_or_host(value: bytes) -> bool:
    """Returns whether a value with a dot in it ends like the name of a file or a host."""
    return b"." in value and _FILE_OR_HOST.search(value) is not None


def variety(value: bytes) -> int:
    """Returns how many of lower case, upper case, digits and other characters the value uses."""
    return len(set(value.translate(_KINDS)) - {0})
