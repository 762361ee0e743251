"""Patterns of secrets that are neither a vendor's token nor assigned to a name: keys, passwords in URLs, headers; all families.

Each `Family` has an anchor, a regular expression in Rust's dialect that runs over the raw, still escaped text of whole tables
at hundreds of megabytes a second and may match too much, and finders that check the unwrapped text around an anchor. Finders
yield the spans to mask. Unwrapping and masking happen elsewhere.
"""

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memory_assets.stages.capture.formats.unwrap import URL_SAFE, Span
from memory_assets.stages.capture.masking.secret_assignments import ANCHOR, find_assigned, find_over_breaks, may_be_secret
from memory_assets.stages.capture.masking.secret_tokens import ANCHORS, FINDERS, SHAPES, Finder, finder_of, token_finder
from memory_assets.stages.capture.masking.secret_values import is_bare_secret, is_placeholder, is_random, is_secret_value


@dataclass(frozen=True)
class Family:
    """Secrets that are found in one way; `before` and `after` are the bytes around an anchor that a finder needs."""

    name: str
    anchor: str
    finders: tuple[Finder, ...]
    before: int = 64
    after: int = 700
    has_base64: bool = False
    is_plausible: Callable[[bytes, int, int], bool] = lambda text, start, end: True
    """Checks the raw text from the anchor on; saves unwrapping what cannot be a secret."""


_KEY_BEGIN = rb"-{4,5} ?BEGIN [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)? ?-{4,5}(?:\s{1,8}(?:[A-Z][A-Za-z-]{1,20}: [^\n]{0,120}\s))*"
_KEY_BLOCK = re.compile(_KEY_BEGIN + rb"((?:[^-]|-(?!---)){0,24000})-{4,6} ?END [A-Z0-9 ]{0,24}PRIVATE KEY")
_KEY_CUT = re.compile(_KEY_BEGIN + rb"((?:[^A-Za-z0-9+/]{0,24}[A-Za-z0-9+/]{16,}={0,2}){1,400})")
_KEY_BARE = re.compile(
    rb"(?<![A-Za-z0-9+/])((?:MII[A-J][A-Za-z0-9+/]{2}IBA(?:AKC|DAN)|b3BlbnNzaC1rZXktdjE|MHcCAQEE|MIGHAgEAMBMGByqGSM49|"
    rb"MC4CAQAwBQYDK2Vw)[A-Za-z0-9+/]{20,}={0,2}(?:[^A-Za-z0-9+/\"]{1,12}[A-Za-z0-9+/]{16,}={0,2})*)"
)
_PUTTY = re.compile(rb"Private-Lines: [0-9]+[^A-Za-z0-9*]{1,12}([^*]{40,24000}?)(?:Private-MAC|\Z)")
_LETTERS = re.compile(rb"[A-Za-z0-9+/]{12,}={0,2}")


def _is_key_body(body: bytes) -> bool:
    letters = sum(len(run) for run in _LETTERS.findall(body) if is_random(run, 0.3))
    return letters >= 24 and letters >= 0.4 * len(body)


_find_key_blocks = finder_of(_is_key_body, _KEY_BLOCK)
_find_key_parts = finder_of(lambda body: is_random(body, 0.4) and b"****" not in body, _KEY_CUT, _PUTTY, _KEY_BARE)
"""Finds private keys that are cut off, without their first line, or as PuTTY writes them."""

_URL = re.compile(
    rb"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,30}://(?:[^\s/@:\"'<>`\\]{0,120}):([^\s\"'<>`\\]{3,200}?)@(?=[A-Za-z0-9\[$%{.*-])"
)
_URL_TOKEN = re.compile(rb"(?<![A-Za-z0-9])https?://([A-Za-z0-9_-]{20,255})@(?=[A-Za-z0-9])")


def _is_url_password(value: bytes) -> bool:
    """Returns whether the text between colon and @ is more than `password`, `$PASS`, `<token>` or a port and a path."""
    if b"/" in value and b"@" not in value and b":" not in value and not is_random(value):
        return False
    if is_placeholder(value) or value.startswith((b"$", b"%", b"{", b"[", b"(")):
        return False
    return len(value) >= 6 and (is_secret_value(value, quoted=True, password=True) or is_random(value) or is_bare_secret(value))


_find_jwk_members = finder_of(
    lambda value: is_random(value, 0.4),
    re.compile(rb"[\"']?\b(?:d|k|p|q|dp|dq|qi)[\"']?[ \t]*:[ \t]*[\"']([A-Za-z0-9_-]{20,2000})[\"']"),
)
_JWK_TYPE = re.compile(rb"[\"']?kty[\"']?[ \t]*:[ \t]*[\"'](?:OKP|EC|RSA|oct)[\"']")


def _find_json_web_keys(text: bytes) -> Iterator[Span]:
    """Yields the private members of JSON Web Keys."""
    if _JWK_TYPE.search(text):
        yield from _find_jwk_members(text)


_HEADER_SCHEMES = "bearer|basic|token|ssws|geniekey|splunk"
_AUTHORIZATION = re.compile(rf"(?<![A-Za-z])(?:{_HEADER_SCHEMES})[ \t]+([A-Za-z0-9+/_.~=-]{{16,4000}})".encode(), re.IGNORECASE)
_PASSWORDS = (
    re.compile(rb"(?:\s-u|--user|--proxy-user)[ =]*[\"']?[^\s:\"'\\]{1,80}:([^\s\"'\\]{6,200})"),
    # A command continues after a backslash at the end of its line.
    re.compile(
        rb"(?:sshpass[ \t]+-p|(?:(?:mysql|mariadb|mongo)[a-z]*|docker login)\b%(on)s{0,120}?[ \t]-p|"
        rb"redis-cli%(on)s{0,120}?[ \t]-a|IDENTIFIED BY|PASSWORD|secrets? set%(on)s{0,80}?--body)"
        rb"[ \t]*[\"']?([^\s\"'\\;]{8,200})" % {b"on": rb"(?:[^\n|;&]|(?<=\\)\r?\n)"}
    ),
    # .netrc: on one line, on lines with something before each, or as a list of lines.
    re.compile(rb"\blogin\s+[^\s\"]{1,80}(?:\s+|(?:\n|\",\s{0,4}\")[^\n]{0,80}?[^\w\n])password\s+([^\s\"'\\]{6,200})"),
    re.compile(rb"echo[ \t]+(?:-n[ \t]+)?[\"']?([^\s\"'|]{8,200})[\"']?[ \t]*\|[^\n]{0,120}?(?:--password-stdin|--with-token)"),
    re.compile(rb"ConvertTo-SecureString(?:[ \t]+-[A-Za-z]+)*[ \t]+[\"']?([^\s\"']{8,200})"),
    re.compile(rb"add-authtoken[ \t]+([A-Za-z0-9_-]{20,100})"),
    # Terraform's variables, and the state that it keeps of random passwords.
    re.compile(
        rb"variable[ \t]+\"[a-z0-9_]*(?:password|secret|token|key|credentials?)[a-z0-9_]*\"[ \t]*\{"
        rb"[^{}]{0,240}?default[ \t]*=[ \t]*\"([^\"\n]{8,400})\""
    ),
    re.compile(rb"random_(?:password|string)\"[\s\S]{0,900}?\"result\"[ \t]*:[ \t]*\"([^\"\n]{8,400})\""),
    # .pgpass
    re.compile(
        rb"(?<![A-Za-z0-9.*-])[A-Za-z0-9.*-]{1,80}:(?:[0-9]{4,5}|\*):[\w*-]{1,40}:[\w*-]{1,40}:"
        rb"([^\s:<\"']{8,100})(?=[\s<\"']|\Z)"
    ),
)
"""Passwords that are given to well-known commands or stored in their files."""
_MNEMONIC = re.compile(
    rb"(?:mnemonic|(?:seed|recovery|backup)[ _-]?(?:phrase|words))[\"'`]?[^A-Za-z\n]{1,6}"
    rb"((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})",
    re.IGNORECASE,
)


def _is_credential(value: bytes) -> bool:
    return is_secret_value(value, quoted=True, password=False)


def _is_password(value: bytes) -> bool:
    return is_secret_value(value, quoted=True, password=True)


def _has_basic_password(value: bytes) -> bool:
    """Returns whether the value, when it is `user:password` in base64, has a password that is worth masking."""
    try:
        user, colon, password = base64.b64decode(value + b"=" * (-len(value) % 4), validate=True).partition(b":")
    except ValueError:
        return True
    return not colon or not (user + password).isascii() or _is_password(password)


_PAIRS = rb"((?:[\w.%$!-]{1,60}=[^\s;\"'`\\]*;?[ \t]?){1,40})"
_COOKIES = (
    re.compile(rb"(?:set-)?cookie[\"'`]?[ \t]*[:=,][ \t]*[\"'`]?" + _PAIRS, re.IGNORECASE),
    re.compile(rb"(?:\s-b|--cookie)[ =]*[\"']?" + _PAIRS),
)
_COOKIE = re.compile(rb"([\w.%$!-]{1,60})=([^\s;\"'`\\]{8,4000})")
_COOKIE_ATTRIBUTES = (b"path", b"domain", b"expires", b"max-age", b"samesite", b"priority")


def _find_cookies(text: bytes) -> Iterator[Span]:
    """Yields the values of cookies in headers and in curl's flags; attributes such as Path are no secrets."""
    for header in (header for pattern in _COOKIES for header in pattern.finditer(text)):
        for match in _COOKIE.finditer(text, *header.span(1)):
            if match[1].lower() not in _COOKIE_ATTRIBUTES and _is_password(match[2]):
                yield match.span(2)


_COMMAND = re.compile(
    rf"(?:{_HEADER_SCHEMES}|cookie|secret|login|mnemonic|seed|recovery|backup) ?|-|sshpass|mysql|mariadb|"
    rf"mongo|docker|redis|IDENT|PASSWORD|ConvertTo|add-auth|variable|random_|:[0-9]{{4}}|[\"']?kty".encode(),
    re.IGNORECASE,
)
_DIGIT = re.compile(rb"[0-9]")
_TOKEN_RUN = re.compile(rb"[A-Za-z0-9_.+/:=,$%?&;-]*")


def _may_be_token(text: bytes, start: int, _: int) -> bool:
    """Returns whether the text continues like a vendor's token, or begins like a command."""
    run = _TOKEN_RUN.match(text, start, start + 80)
    is_token = run is not None and len(run[0]) >= 18 and (_DIGIT.search(run[0]) is not None or is_random(run[0], 0.2))
    return is_token or _COMMAND.match(text, start) is not None


_COMMAND_ANCHORS = (
    rf"(?i:{_HEADER_SCHEMES}) +[A-Za-z0-9+/_.~=-]{{16}}",
    r"(?:-u|--user|--proxy-user)[ =]\\*[\"']?[^ :\"'\\]+:[^ \"'\\]{6}",
    r"sshpass|(?:mysql|mariadb|mongo)[a-z]* -|docker login|redis-cli|IDENTIFIED BY|PASSWORD '",
    r"secrets? set |--password-stdin|--with-token|ConvertTo-SecureString|add-authtoken|random_(?:password|string)\\*\"",
    r"variable \\*\"[a-z0-9_]*(?:password|secret|token|key|credentials?)[a-z0-9_]*\\*\" \{",
    r":[0-9]{4,5}:[a-z0-9_*-]{1,40}:[A-Za-z0-9_*-]{1,40}:[^ :\\\"']{8}",
    r"kty\\*[\"']? ?: ?\\*[\"'](?:OKP|EC|RSA|oct)\\*[\"']",
    r"login [^ ]{1,80}(?s:.){1,80}password ",
    r"(?i:mnemonic|(?:seed|recovery|backup)[ _-]?(?:phrase|words))",
    r"(?i:cookie)\\*[\"'`]?[ \t]*[:=,][ \t]*\\*[\"'`]?[A-Za-z0-9_.%$!-]{1,60}=",
    r"(?:-b|--cookie)[ =]\\*[\"']?[A-Za-z0-9_.%$!-]{1,60}=",
)

# ASCII text in base64: of each four letters the first three leave one bit unset, because no byte has its highest bit.
_BASE64_TEXT = r"(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){6}"
_TEXT_GROUPS = re.compile(_BASE64_TEXT.encode())
_RUN = re.compile(
    rb"(?:[A-Za-z0-9+/]{60,76}\",[ \n]{0,20}\"[+ -]?){1,400}[A-Za-z0-9+/]{2,76}={0,2}(?=\")|"
    rb"[A-Za-z0-9+/_-]{16,}"
    rb"(?:(?:\r?\n(?:[ \t]*[0-9]{1,6}(?:\t|\xe2\x86\x92)|[+> -])?[ \t]*|[ \t]{1,8})[A-Za-z0-9+/_-]{4,})*={0,2}"
)
_LETTERS_ONLY = re.compile(rb"[A-Za-z0-9+/_-]{20,24}")
_PRINTABLE = re.compile(rb"[\t\n\r -~]*")


def base64_texts(text: bytes) -> Iterator[Span]:
    """Yields the stretches of base64 letters that decode to text, line breaks included, from a whole group on."""
    for run in _RUN.finditer(text):
        places = (_text_begins(text, groups.start()) for groups in _TEXT_GROUPS.finditer(text, *run.span()))
        place = next((place for place in places if place is not None), None)
        if place is not None:
            before = sum(map(len, re.findall(rb"[A-Za-z0-9+/_-]+", text[run.start() : place])))
            yield (run.start() if before % 4 == 0 else place), run.end()


def _text_begins(text: bytes, start: int) -> int | None:
    """Returns the first of the next four places from which base64 letters decode to printable characters."""
    for place in range(start, start + 4):
        letters = _LETTERS_ONLY.match(text, place, place + 24)
        if letters and _PRINTABLE.fullmatch(base64.b64decode(letters[0][: len(letters[0]) // 4 * 4].translate(URL_SAFE))):
            return place
    return None


_MAILGUN = r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}"


def _may_be_mailgun_or_text(text: bytes, start: int, end: int) -> bool:
    return end - start == 50 or _text_begins(text, start) is not None


FAMILIES: tuple[Family, ...] = (
    Family(
        "tokens and commands",
        "|".join((*ANCHORS, *_COMMAND_ANCHORS)),
        (
            *FINDERS,
            finder_of(lambda value: _is_credential(value) and _has_basic_password(value), _AUTHORIZATION),
            finder_of(lambda value: _is_password(value) or is_bare_secret(value), *_PASSWORDS),
            finder_of(lambda words: True, _MNEMONIC),
            _find_cookies,
            _find_json_web_keys,
        ),
        before=256,
        after=1_500,
        is_plausible=_may_be_token,
    ),
    *(Family(name, anchor, (token_finder(begin, rest),), before=96) for name, begin, rest, anchor in SHAPES),
    Family(
        "private keys",
        r"---- ?BEGIN [A-Z0-9 ]*PRIVATE KEY|Private-Lines:|MII[A-J][A-Za-z0-9+/]{2}IBA|b3BlbnNzaC1rZXktdjE|MHcCAQEE|"
        r"MIGHAgEAMBMG|MC4CAQAwBQYDK2Vw",
        (_find_key_blocks, _find_key_parts),
        after=26_000,
    ),
    Family(
        "urls",
        r"://[A-Za-z0-9_-]{20,255}@|(?::|%3[aA])(?:\\*/|%2[fF]){2}[^ /@\"'<>`\\]*(?::|%3[aA])[^ \"'<>`\\]{3,200}(?:@|%40)",
        (finder_of(_is_url_password, _URL), finder_of(_is_credential, _URL_TOKEN)),
    ),
    Family("assignments", ANCHOR, (find_assigned, find_over_breaks), before=96, after=256, is_plausible=may_be_secret),
    Family(
        "mailgun and base64",
        rf"{_MAILGUN}|{_BASE64_TEXT}",
        (token_finder(r"\b", rf"{_MAILGUN}(?![0-9A-Za-z-])"),),
        after=3_000,
        has_base64=True,
        is_plausible=_may_be_mailgun_or_text,
    ),
)
