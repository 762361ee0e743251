"""Lists all families of secrets, and finds those without a module of their own.

These are private keys, passwords in URLs, JSON Web Keys, and secrets in base64. A `Family` has an
anchor and finders. The anchor is a regular expression in Rust's dialect. It runs over the raw,
still escaped text of whole tables at hundreds of megabytes a second, and may match too much. The
finders check the unwrapped text around an anchor, and yield the spans to mask. `unwrap` and
`redact` do the unwrapping and the masking.
"""

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from memory_assets.text.masking import secret_assignments as assignments
from memory_assets.text.masking import secret_commands as commands
from memory_assets.text.masking import secret_sentences as sentences
from memory_assets.text.masking import secret_tokens as tokens
from memory_assets.text.masking import secret_transfers as transfers
from memory_assets.text.masking import secret_values as values
from memory_assets.text.masking.secret_tokens import Finder, finder_of, token_finder
from memory_assets.text.masking.secret_values import is_random
from memory_assets.text.masking.unwrap import URL_SAFE, Span
from memory_assets.text.patterns import byte_patterns_beside, texts_beside


@dataclass(frozen=True)
class Family:
    """Secrets that are found in one way.

    `before` and `after` say how many bytes around an anchor the finders need.
    """

    name: str
    anchor: str
    finders: tuple[Finder, ...]
    before: int = 64
    after: int = 700
    has_base64: bool = False
    is_plausible: Callable[[bytes, int, int], bool] = lambda text, start, end: True
    """Checks the raw text at the anchor, so that what cannot be a secret is not unwrapped."""


_TEXTS = texts_beside(__file__)
_PATTERNS = byte_patterns_beside(__file__)
_KEY_CUT = _PATTERNS["key_cut"]
_KEY_BARE = _PATTERNS["key_bare"]
_PUTTY = _PATTERNS["putty"]
_LETTERS = re.compile(rb"[A-Za-z0-9+/]{12,}={0,2}")


def _is_key_body(body: bytes) -> bool:
    letters = sum(len(run) for run in _LETTERS.findall(body) if is_random(run, 0.3))
    return letters >= 24 and letters >= 0.4 * len(body)


_find_key_blocks = finder_of(_is_key_body, _PATTERNS["key_block"])
_find_key_parts = finder_of(
    lambda body: is_random(body, 0.4) and b"****" not in body, _KEY_CUT, _PUTTY, _KEY_BARE
)
"""Finds private keys that are cut off, without their first line, or as PuTTY writes them."""


def _is_url_password(value: bytes) -> bool:
    """Returns whether the text between colon and @ is a password.

    It may also be a placeholder such as `$PASS` or `<token>`, or a port and a path.
    """
    if b"/" in value and b"@" not in value and b":" not in value and not is_random(value):
        return False
    if values.is_placeholder(value) or value.startswith((b"$", b"%", b"{", b"[", b"(")):
        return False
    return len(value) >= 6 and (
        values.is_secret_value(value, quoted=True, password=True)
        or is_random(value)
        or values.is_bare_secret(value)
    )


_find_url_passwords = finder_of(_is_url_password, _PATTERNS["url"])
_find_url_tokens = finder_of(commands.is_credential, _PATTERNS["url_token"])
_find_jwk_members = finder_of(
    lambda value: is_random(value, 0.4),
    re.compile(
        rb"[\"']?\b(?:d|k|p|q|dp|dq|qi)[\"']?[ \t]*:[ \t]*[\"']([A-Za-z0-9_-]{20,2000})[\"']"
    ),
)
_JWK_TYPE = re.compile(rb"[\"']?kty[\"']?[ \t]*:[ \t]*[\"'](?:OKP|EC|RSA|oct)[\"']")


def _find_json_web_keys(text: bytes) -> Iterator[Span]:
    """Yields the private members of JSON Web Keys."""
    if _JWK_TYPE.search(text):
        yield from _find_jwk_members(text)


_DIGIT = re.compile(rb"[0-9]")
_TOKEN_RUN = re.compile(rb"[A-Za-z0-9_.+/:=,$%?&;|~-]*")


def _may_be_token(text: bytes, start: int, _: int) -> bool:
    """Returns whether the text continues like a vendor's token."""
    run = _TOKEN_RUN.match(text, start, start + 80)
    return (
        run is not None
        and len(run[0]) >= 18
        and (_DIGIT.search(run[0]) is not None or is_random(run[0], 0.2))
    )


_SCHEME = re.compile(rf"(?:{commands.SCHEMES}) +".encode(), re.IGNORECASE)


def _may_be_command(text: bytes, start: int, end: int) -> bool:
    """Returns whether the text is a command, or a scheme before something like a token."""
    scheme = _SCHEME.match(text, start, end)
    return scheme is None or _may_be_token(text, scheme.end(), end)


# ASCII text in base64: of each four letters the first three leave one bit unset, because no byte
# has its highest bit.
_BASE64_TEXT = _TEXTS["_base64_text"]
_TEXT_GROUPS = re.compile(_BASE64_TEXT.encode())
_LETTERS_ONLY = re.compile(rb"[A-Za-z0-9+/_-]{20,24}")
_PRINTABLE = re.compile(rb"[\t\n\r -~]*")


def base64_texts(text: bytes) -> Iterator[list[int]]:
    """Yields the places of the letters of each stretch of base64 that decodes to text.

    Each begins where a group of four letters begins. Line breaks are left out, with what stands
    before each line. A plus or minus there may be a letter or the sign of a diff: both are tried.
    """
    for run in _PATTERNS["run"].finditer(text):
        for lines in _blocks(_lines_of_letters(text, *run.span())):
            unsigned = [line[1:] if text[line[0]] in b"+-" else line for line in lines]
            for variant in [lines, unsigned] if unsigned != lines else [lines]:
                letters = b"".join(text[line.start : line.stop] for line in variant)
                for begin in _begins(letters):
                    yield [place for line in variant for place in line][begin:]


def _blocks(lines: list[range]) -> Iterator[list[range]]:
    """Yields all lines together, and each block of lines of one length.

    The line behind a block may be its shorter last line, or other text: both are tried.
    """
    yield lines
    start = 0
    for _, block in groupby(lines if len(lines) > 1 else (), len):
        end = start + len([*block])
        yield lines[start:end]
        yield lines[start : end + 1]
        start = end


def _lines_of_letters(text: bytes, start: int, end: int) -> list[range]:
    """Returns the places of the letters of each line of wrapped base64."""
    breaks = _PATTERNS["line_break"].finditer(text, start, end)
    edges = [start, *(edge for line_break in breaks for edge in line_break.span()), end]
    return [range(*line) for line in zip(edges[::2], edges[1::2], strict=True)]


def _begins(letters: bytes) -> Iterator[int]:
    """Yields where text begins, once for each of the four ways to make groups of the letters.

    Where two texts follow each other, their groups may be made in different ways.
    """
    ways: set[int] = set()
    for groups in _TEXT_GROUPS.finditer(letters):
        is_new = groups.start() % 4 not in ways
        begin = _text_begins(letters, groups.start()) if is_new else None
        if begin is not None and begin % 4 not in ways:
            ways.add(begin % 4)
            yield begin if begin % 4 else 0


def _text_begins(text: bytes, start: int) -> int | None:
    """Returns the first of four places from which base64 decodes to printable characters."""
    for place in range(start, start + 4):
        letters = _LETTERS_ONLY.match(text, place, place + 24)
        if letters and _PRINTABLE.fullmatch(
            base64.b64decode(letters[0][: len(letters[0]) // 4 * 4].translate(URL_SAFE))
        ):
            return place
    return None


_MAILGUN = r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}"


def _may_be_mailgun_or_text(text: bytes, start: int, end: int) -> bool:
    return end - start == 50 or _text_begins(text, start) is not None


FAMILIES: tuple[Family, ...] = (
    Family(
        "tokens", "|".join(tokens.ANCHORS), tokens.FINDERS, 256, 1_500, is_plausible=_may_be_token
    ),
    Family(
        "commands and headers",
        commands.COMMAND_ANCHOR,
        commands.COMMANDS,
        before=256,
        after=1_500,
        is_plausible=_may_be_command,
    ),
    Family("options of commands", commands.OPTION_ANCHOR, commands.OPTIONS),
    Family("recovery phrases", commands.PHRASE_ANCHOR, commands.PHRASES),
    Family("one-time codes", commands.CODE_ANCHOR, commands.CODES),
    Family("cookies", commands.COOKIE_ANCHOR, commands.COOKIES, before=2_048, after=1_500),
    Family(
        "values handed on",
        transfers.TRANSFER_ANCHOR,
        transfers.TRANSFERS,
        before=256,
        after=1_500,
        is_plausible=transfers.may_be_taken,
    ),
    Family(
        "arguments of calls",
        transfers.CALL_ANCHOR,
        transfers.CALLS,
        is_plausible=transfers.has_argument,
    ),
    Family("manifests", transfers.MANIFEST_ANCHOR, transfers.MANIFESTS, 2_048, 3_000),
    Family("tails of private keys", transfers.KEY_TAIL_ANCHOR, transfers.KEY_TAILS, 4_000, 64),
    Family("json web keys", _TEXTS["_jwk_anchor"], (_find_json_web_keys,), 256, 1_500),
    Family("tokens without a prefix", tokens.SHAPE_ANCHOR, tokens.SHAPES, before=96),
    Family(
        "private keys", _TEXTS["_key_anchor"], (_find_key_blocks, _find_key_parts), after=26_000
    ),
    Family("urls", _TEXTS["_url_anchor"], (_find_url_passwords, _find_url_tokens)),
    Family(
        "sentences",
        sentences.SENTENCE_ANCHOR,
        sentences.SENTENCES,
        before=160,
        after=400,
        is_plausible=sentences.may_be_told,
    ),
    Family("tables", sentences.TABLE_ANCHOR, sentences.TABLES, before=400, after=4_000),
    Family(
        "assignments",
        assignments.ANCHOR,
        (assignments.find_assigned, assignments.find_over_breaks),
        before=96,
        after=256,
        is_plausible=assignments.may_be_secret,
    ),
    Family(
        "mailgun and base64",
        rf"{_MAILGUN}|{_BASE64_TEXT}",
        (token_finder(r"\b", rf"{_MAILGUN}(?![0-9A-Za-z-])"),),
        after=3_000,
        has_base64=True,
        is_plausible=_may_be_mailgun_or_text,
    ),
)
