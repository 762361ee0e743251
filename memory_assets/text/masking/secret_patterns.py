"""Patterns of secrets that are neither a vendor's token nor assigned to a name: keys, passwords in
URLs, headers; all families.

Each `Family` has an anchor, a regular expression in Rust's dialect that runs over the raw, still
escaped text of whole tables at hundreds of megabytes a second and may match too much, and finders
that check the unwrapped text around an anchor. Finders yield the spans to mask. Unwrapping and
masking happen elsewhere.
"""

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memory_assets.text.masking.secret_assignments import (
    ANCHOR,
    find_assigned,
    find_over_breaks,
    may_be_secret,
)
from memory_assets.text.masking.secret_commands import (
    COMMAND_ANCHOR,
    COMMANDS,
    COOKIE_ANCHOR,
    COOKIES,
    OPTION_ANCHOR,
    OPTIONS,
    SCHEMES,
    is_credential,
)
from memory_assets.text.masking.secret_sentences import (
    SENTENCE_ANCHOR,
    SENTENCES,
    TABLE_ANCHOR,
    TABLES,
    may_be_told,
)
from memory_assets.text.masking.secret_tokens import (
    ANCHORS,
    SHAPES,
    Finder,
    finder_of,
    token_finder,
)
from memory_assets.text.masking.secret_tokens import FINDERS as TOKEN_FINDERS
from memory_assets.text.masking.secret_values import (
    is_bare_secret,
    is_placeholder,
    is_random,
    is_secret_value,
)
from memory_assets.text.masking.unwrap import URL_SAFE, Span


@dataclass(frozen=True)
class Family:
    """Secrets that are found in one way; `before` and `after` are the bytes around an anchor that a
    finder needs.
    """

    name: str
    anchor: str
    finders: tuple[Finder, ...]
    before: int = 64
    after: int = 700
    has_base64: bool = False
    is_plausible: Callable[[bytes, int, int], bool] = lambda text, start, end: True
    """Checks the raw text from the anchor on; saves unwrapping what cannot be a secret."""


_KEY_BEGIN = (
    rb"-{4,5} ?BEGIN [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)? "
    rb"?-{4,5}(?:\s{1,8}(?:[A-Z][A-Za-z-]{1,20}: [^\n]{0,120}\s))*"
)
_KEY_BLOCK = re.compile(
    _KEY_BEGIN + rb"((?:[^-]|-(?!---)){0,24000})-{4,6} ?END [A-Z0-9 ]{0,24}PRIVATE KEY"
)
_KEY_CUT = re.compile(_KEY_BEGIN + rb"((?:[^A-Za-z0-9+/]{0,24}[A-Za-z0-9+/]{16,}={0,2}){1,400})")
_KEY_BARE = re.compile(
    rb"(?<![A-Za-z0-9+/])((?:MII[A-J][A-Za-z0-9+/]{2}IBA(?:AKC|DAN)|b3BlbnNzaC1rZXktdjE"
    rb"|MHcCAQEE|MIGHAgEAMBMGByqGSM49|"
    rb"MC4CAQAwBQYDK2Vw)[A-Za-z0-9+/]{20,}={0,2}(?:[^A-Za-z0-9+/\"]{1,12}[A-Za-z0-9+/]{16,}={0,2})*)"
)
_PUTTY = re.compile(rb"Private-Lines: [0-9]+[^A-Za-z0-9*]{1,12}([^*]{40,24000}?)(?:Private-MAC|\Z)")
_LETTERS = re.compile(rb"[A-Za-z0-9+/]{12,}={0,2}")


def _is_key_body(body: bytes) -> bool:
    letters = sum(len(run) for run in _LETTERS.findall(body) if is_random(run, 0.3))
    return letters >= 24 and letters >= 0.4 * len(body)


_find_key_blocks = finder_of(_is_key_body, _KEY_BLOCK)
_find_key_parts = finder_of(
    lambda body: is_random(body, 0.4) and b"****" not in body, _KEY_CUT, _PUTTY, _KEY_BARE
)
"""Finds private keys that are cut off, without their first line, or as PuTTY writes them."""

_URL = re.compile(
    rb"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,30}://(?:[^\s/@:\"'<>`\\]{0,120}):([^\s\"'<>`\\]{3,200}?)@(?=[A-Za-z0-9\[$%{.*-])"
)
_URL_TOKEN = re.compile(rb"(?<![A-Za-z0-9])https?://([A-Za-z0-9_-]{20,255})@(?=[A-Za-z0-9])")


def _is_url_password(value: bytes) -> bool:
    """Returns whether the text between colon and @ is more than `password`, `$PASS`, `<token>` or a
    port and a path.
    """
    if b"/" in value and b"@" not in value and b":" not in value and not is_random(value):
        return False
    if is_placeholder(value) or value.startswith((b"$", b"%", b"{", b"[", b"(")):
        return False
    return len(value) >= 6 and (
        is_secret_value(value, quoted=True, password=True)
        or is_random(value)
        or is_bare_secret(value)
    )


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


_SCHEME = re.compile(rf"(?:{SCHEMES}) +".encode(), re.IGNORECASE)


def _may_be_command(text: bytes, start: int, end: int) -> bool:
    """Returns whether the text is a command, or a scheme before something like a token."""
    scheme = _SCHEME.match(text, start, end)
    return scheme is None or _may_be_token(text, scheme.end(), end)


# ASCII text in base64: of each four letters the first three leave one bit unset, because no byte
# has its highest bit.
_BASE64_TEXT = r"(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){6}"
_TEXT_GROUPS = re.compile(_BASE64_TEXT.encode())
_RUN = re.compile(
    rb"(?:[A-Za-z0-9+/]{60,76}\",[ \n]{0,20}\"[+ -]?){1,400}[A-Za-z0-9+/]{2,76}={0,2}(?=\")|"
    rb"[A-Za-z0-9+/_-]{16,}"
    rb"(?:(?:\r?\n(?:[ \t]*[0-9]{1,6}(?:\t|\xe2\x86\x92)|[+> -])?[ \t]*"
    rb"|[ \t]{1,8})[A-Za-z0-9+/_-]{4,})*={0,2}"
)
_LETTERS_ONLY = re.compile(rb"[A-Za-z0-9+/_-]{20,24}")
_PRINTABLE = re.compile(rb"[\t\n\r -~]*")


def base64_texts(text: bytes) -> Iterator[Span]:
    """Yields the stretches of base64 letters that decode to text, line breaks included, from a
    whole group on.
    """
    for run in _RUN.finditer(text):
        places = (
            _text_begins(text, groups.start())
            for groups in _TEXT_GROUPS.finditer(text, *run.span())
        )
        place = next((place for place in places if place is not None), None)
        if place is not None:
            digits_before = sum(
                map(len, re.findall(rb"[A-Za-z0-9+/_-]+", text[run.start() : place]))
            )
            yield (run.start() if digits_before % 4 == 0 else place), run.end()


def _text_begins(text: bytes, start: int) -> int | None:
    """Returns the first of the next four places from which base64 letters decode to printable
    characters.
    """
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
        "tokens",
        "|".join(ANCHORS),
        TOKEN_FINDERS,
        before=256,
        after=1_500,
        is_plausible=_may_be_token,
    ),
    Family(
        "commands and headers",
        COMMAND_ANCHOR,
        COMMANDS,
        before=256,
        after=1_500,
        is_plausible=_may_be_command,
    ),
    Family("options of commands", OPTION_ANCHOR, OPTIONS, after=700),
    Family("cookies", COOKIE_ANCHOR, COOKIES, before=2_048, after=1_500),
    Family(
        "json web keys",
        r"kty\\*[\"']? ?: ?\\*[\"'](?:OKP|EC|RSA|oct)\\*[\"']",
        (_find_json_web_keys,),
        before=256,
        after=1_500,
    ),
    *(
        Family(name, anchor, (token_finder(begin, rest),), before=96)
        for name, begin, rest, anchor in SHAPES
    ),
    Family(
        "private keys",
        r"---- ?BEGIN [A-Z0-9 ]*PRIVATE KEY|Private-Lines:|MII[A-J][A-Za-z0-9+/]{2}IBA"
        r"|b3BlbnNzaC1rZXktdjE|MHcCAQEE|"
        r"MIGHAgEAMBMG|MC4CAQAwBQYDK2Vw",
        (_find_key_blocks, _find_key_parts),
        after=26_000,
    ),
    Family(
        "urls",
        r"://[A-Za-z0-9_-]{20,255}@|(?::|%3[aA])(?:\\*/|%2[fF]){2}[^ /@\"'<>`\\]*(?::"
        r"|%3[aA])[^ \"'<>`\\]{3,200}(?:@|%40)",
        (finder_of(_is_url_password, _URL), finder_of(is_credential, _URL_TOKEN)),
    ),
    Family(
        "sentences", SENTENCE_ANCHOR, SENTENCES, before=160, after=400, is_plausible=may_be_told
    ),
    Family("tables", TABLE_ANCHOR, TABLES, before=400, after=4_000),
    Family(
        "assignments",
        ANCHOR,
        (find_assigned, find_over_breaks),
        before=96,
        after=256,
        is_plausible=may_be_secret,
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
