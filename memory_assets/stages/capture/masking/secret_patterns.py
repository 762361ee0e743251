"""What secrets look like that are neither a vendor's token nor assigned: keys, passwords in URLs, headers; and all families.

Each `Family` has an anchor, a regular expression in Rust's dialect that runs over the raw, still escaped text of whole
tables at hundreds of megabytes a second and may be wrong, and finders that look closely at the unwrapped text around an
anchor. Finders yield kind, start and end of what has to be masked. Unwrapping and masking happen elsewhere.
"""

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memory_assets.stages.capture.formats.unwrap import URL_SAFE
from memory_assets.stages.capture.masking.secret_assignments import ANCHOR, find_assigned, find_over_breaks, may_be_secret
from memory_assets.stages.capture.masking.secret_tokens import (
    BOUND,
    SHAPES,
    TOKENS,
    Finder,
    Found,
    find_aws_secret,
    token_anchor,
    token_finder,
)
from memory_assets.stages.capture.masking.secret_values import is_bare_secret, is_placeholder, is_random, is_secret_value


@dataclass(frozen=True)
class Family:
    """Secrets that are found in one way; `before` and `after` say how much text around an anchor a finder needs."""

    name: str
    anchor: str
    finders: tuple[Finder, ...]
    before: int = 64
    after: int = 700
    has_base64: bool = False
    is_plausible: Callable[[bytes, int, int], bool] = lambda text, start, end: True
    """Judges the anchor by the raw text at and behind it; saves unwrapping what cannot be a secret."""


_KEY_BEGIN = rb"-{4,5} ?BEGIN [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)? ?-{4,5}(?:\s{1,8}(?:[A-Z][A-Za-z-]{1,20}: [^\n]{0,120}\s))*"
_KEY_BLOCK = re.compile(_KEY_BEGIN + rb"((?:[^-]|-(?!---)){0,24000})-{4,6} ?END [A-Z0-9 ]{0,24}PRIVATE KEY")
_KEY_CUT = re.compile(_KEY_BEGIN + rb"((?:[^A-Za-z0-9+/]{0,24}[A-Za-z0-9+/]{16,}={0,2}){1,400})")
_KEY_BARE = re.compile(
    rb"(?<![A-Za-z0-9+/])(?:MII[A-J][A-Za-z0-9+/]{2}IBA(?:AKC|DAN)|b3BlbnNzaC1rZXktdjE|MHcCAQEE|MIGHAgEAMBMGByqGSM49|"
    rb"MC4CAQAwBQYDK2Vw)[A-Za-z0-9+/]{20,}={0,2}(?:[^A-Za-z0-9+/\"]{1,12}[A-Za-z0-9+/]{16,}={0,2})*"
)
_PUTTY = re.compile(rb"Private-Lines: [0-9]+[^A-Za-z0-9*]{1,12}([^*]{40,24000}?)(?:Private-MAC|\Z)")
_LETTERS = re.compile(rb"[A-Za-z0-9+/]{12,}={0,2}")


def _find_private_keys(text: bytes) -> Iterator[Found]:
    """Yields the body of each private key, whole, cut off, or without its first line, and as PuTTY writes it."""
    for match in _KEY_BLOCK.finditer(text):
        body = match[1]
        letters = sum(len(run) for run in _LETTERS.findall(body) if is_random(run, 0.3))
        if letters >= 24 and letters >= 0.4 * len(body):
            yield "private-key", match.start(1), match.end(1)
    for pattern, group in ((_KEY_CUT, 1), (_PUTTY, 1), (_KEY_BARE, 0)):
        for match in pattern.finditer(text):
            if is_random(match[group], 0.4) and b"****" not in match[group]:
                yield "private-key", match.start(group), match.end(group)


_URL = re.compile(
    rb"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,30}://([^\s/@:\"'<>`\\]{0,120}):([^\s\"'<>`\\]{3,200}?)@(?=[A-Za-z0-9\[$%{.*-])"
)


def _find_url_passwords(text: bytes) -> Iterator[Found]:
    """Yields the password of each `scheme://user:password@host`, and tokens in the place of the user."""
    for match in _URL.finditer(text):
        if b"/" in match[2] and b"@" not in match[2] and b":" not in match[2] and not is_random(match[2]):
            continue
        if _is_url_password(match[2]):
            yield "url-password", match.start(2), match.end(2)
    for match in _URL_TOKEN.finditer(text):
        if is_secret_value(match[1], quoted=True, password=False):
            yield "url-password", match.start(1), match.end(1)


_URL_TOKEN = re.compile(rb"(?<![A-Za-z0-9])https?://([A-Za-z0-9_-]{20,255})@(?=[A-Za-z0-9])")


def _is_url_password(value: bytes) -> bool:
    """Says whether what stands between colon and @ is more than `password`, `$PASS` or `<token>`."""
    if is_placeholder(value) or value.startswith((b"$", b"%", b"{", b"[", b"(")):
        return False
    return len(value) >= 6 and (is_secret_value(value, quoted=True, password=True) or is_random(value) or is_bare_secret(value))


_JWK_MEMBER = re.compile(rb"[\"']?\b(?:d|k|p|q|dp|dq|qi)[\"']?[ \t]*:[ \t]*[\"']([A-Za-z0-9_-]{20,2000})[\"']")
_JWK_TYPE = re.compile(rb"[\"']?kty[\"']?[ \t]*:[ \t]*[\"'](?:OKP|EC|RSA|oct)[\"']")


def _find_jwk_members(text: bytes) -> Iterator[Found]:
    """Yields the private members of JSON Web Keys."""
    for match in _JWK_MEMBER.finditer(text) if _JWK_TYPE.search(text) else ():
        if is_random(match[1], 0.4):
            yield "private-key", match.start(1), match.end(1)


_HEADER = re.compile(
    rb"(?<![A-Za-z])(bearer|basic|token|ssws|geniekey|splunk)[ \t]+([A-Za-z0-9+/_.~=-]{16,4000})", re.IGNORECASE
)
_USER = re.compile(rb"(?:\s-u|--user|--proxy-user)[ =]*[\"']?[^\s:\"'\\]{1,80}:([^\s\"'\\]{6,200})")
_PASS_FLAG = re.compile(
    rb"(?:sshpass[ \t]+-p|(?:(?:mysql|mariadb|mongo)[a-z]*|docker login)\b%(on)s{0,120}?[ \t]-p|"
    rb"redis-cli%(on)s{0,120}?[ \t]-a|IDENTIFIED BY|PASSWORD|secrets? set%(on)s{0,80}?--body)"
    rb"[ \t]*[\"']?([^\s\"'\\;]{8,200})" % {b"on": rb"(?:[^\n|;&]|(?<=\\)\r?\n)"}
)
"""A command goes on behind a backslash at the end of its line."""
_PIPED = re.compile(
    rb"echo[ \t]+(?:-n[ \t]+)?[\"']?([^\s\"'|]{8,200})[\"']?[ \t]*\|[^\n]{0,120}?(?:--password-stdin|--with-token)"
)
_NETRC = re.compile(rb"\blogin\s+[^\s\"]{1,80}(?:\s+|(?:\n|\",\s{0,4}\")[^\n]{0,80}?[^\w\n])password\s+([^\s\"'\\]{6,200})")
"""On one line, on lines with something before each, or as a list of lines."""
_SECURE_STRING = re.compile(rb"ConvertTo-SecureString(?:[ \t]+-[A-Za-z]+)*[ \t]+[\"']?([^\s\"']{8,200})")
_AUTHTOKEN = re.compile(rb"add-authtoken[ \t]+([A-Za-z0-9_-]{20,100})")
_VARIABLE = re.compile(
    rb"variable[ \t]+\"[a-z0-9_]*(?:password|secret|token|key|credentials?)[a-z0-9_]*\"[ \t]*\{"
    rb"[^{}]{0,240}?default[ \t]*=[ \t]*\"([^\"\n]{8,400})\""
)
_RANDOM_PASSWORD = re.compile(rb"random_(?:password|string)\"[\s\S]{0,900}?\"result\"[ \t]*:[ \t]*\"([^\"\n]{8,400})\"")
_PGPASS = re.compile(
    rb"(?<![A-Za-z0-9.*-])[A-Za-z0-9.*-]{1,80}:(?:[0-9]{4,5}|\*):[\w*-]{1,40}:[\w*-]{1,40}:([^\s:<\"']{8,100})(?=[\s<\"']|\Z)"
)
_MNEMONIC = re.compile(
    rb"(?:mnemonic|(?:seed|recovery|backup)[ _-]?(?:phrase|words))[\"'`]?[^A-Za-z\n]{1,6}"
    rb"((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})",
    re.IGNORECASE,
)


def _find_headers(text: bytes) -> Iterator[Found]:
    """Yields what follows Bearer and Basic, and passwords given to well-known commands."""
    for match in _HEADER.finditer(text):
        if is_secret_value(match[2], quoted=True, password=False) and _basic_password(match[2]):
            yield "authorization", match.start(2), match.end(2)
    for pattern in (_USER, _PASS_FLAG, _NETRC, _PIPED, _SECURE_STRING, _AUTHTOKEN, _VARIABLE, _RANDOM_PASSWORD, _PGPASS):
        for match in pattern.finditer(text):
            if is_secret_value(match[1], quoted=True, password=True) or is_bare_secret(match[1]):
                yield "password", match.start(1), match.end(1)
    for match in _MNEMONIC.finditer(text):
        yield "mnemonic", match.start(1), match.end(1)


def _basic_password(value: bytes) -> bool:
    """Says whether the value, when it is `user:password` in base64, has a password that is worth hiding."""
    try:
        user, colon, password = base64.b64decode(value + b"=" * (-len(value) % 4), validate=True).partition(b":")
    except ValueError:
        return True
    if not colon or not (user + password).isascii():
        return True
    return is_secret_value(password, quoted=True, password=True)


_COOKIES = re.compile(
    rb"(?:set-)?cookie[\"'`]?[ \t]*[:=,][ \t]*[\"'`]?((?:[\w.%$!-]{1,60}=[^\s;\"'`\\]*;?[ \t]?){1,40})", re.IGNORECASE
)
_COOKIE = re.compile(rb"([\w.%$!-]{1,60})=([^\s;\"'`\\]{8,4000})")
_COOKIE_JAR = re.compile(rb"(?:\s-b|--cookie)[ =]*[\"']?((?:[\w.%$!-]{1,60}=[^\s;\"'`\\]*;?[ \t]?){1,40})")


def _find_cookies(text: bytes) -> Iterator[Found]:
    """Yields the values of cookies in headers and in curl's flags; attributes such as Path are no secrets."""
    for pattern in (_COOKIES, _COOKIE_JAR):
        for header in pattern.finditer(text):
            for match in _COOKIE.finditer(text, header.start(1), header.end(1)):
                attribute = match[1].lower() in (b"path", b"domain", b"expires", b"max-age", b"samesite", b"priority")
                if not attribute and is_secret_value(match[2], quoted=True, password=True):
                    yield "cookie", match.start(2), match.end(2)


_COMMAND = re.compile(
    rb"(?:bearer|basic|token|ssws|geniekey|splunk|cookie|secret|login|mnemonic|seed|recovery|backup) ?|-|sshpass|mysql|mariadb|"
    rb"mongo|docker|redis|IDENT|PASSWORD|ConvertTo|add-auth|variable|random_|:[0-9]{4}|[\"']?kty",
    re.IGNORECASE,
)
_DIGIT = re.compile(rb"[0-9]")
_TOKEN_RUN = re.compile(rb"[A-Za-z0-9_.+/:=,$%?&;-]*")


def _may_be_token(text: bytes, start: int, _: int) -> bool:
    """Says whether what begins like a vendor's token goes on like one."""
    run = _TOKEN_RUN.match(text, start, start + 80)
    is_token = run is not None and len(run[0]) >= 18 and (_DIGIT.search(run[0]) is not None or is_random(run[0], 0.2))
    return is_token or _COMMAND.match(text, start) is not None


_COMMAND_ANCHOR = "|".join(
    (
        r"(?i:bearer|basic|token|ssws|geniekey|splunk) +[A-Za-z0-9+/_.~=-]{16}",
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
)

# ASCII text in base64: of each four letters the first three leave one bit unset, because no byte has its highest bit.
_BASE64_TEXT = r"(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){6}"
_RUN = re.compile(
    rb"(?:[A-Za-z0-9+/]{60,76}\",[ \n]{0,20}\"[+ -]?){1,400}[A-Za-z0-9+/]{2,76}={0,2}(?=\")|"
    rb"[A-Za-z0-9+/_-]{16,}"
    rb"(?:(?:\r?\n(?:[ \t]*[0-9]{1,6}(?:\t|\xe2\x86\x92)|[+> -])?[ \t]*|[ \t]{1,8})[A-Za-z0-9+/_-]{4,})*={0,2}"
)


def _text_begins(text: bytes, start: int) -> int | None:
    """Returns the first of the next four places from which base64 letters decode to characters that can be printed."""
    for place in range(start, start + 4):
        letters = _LETTERS_ONLY.match(text, place, place + 24)
        if letters and _PRINTABLE.fullmatch(base64.b64decode(letters[0][: len(letters[0]) // 4 * 4].translate(URL_SAFE))):
            return place
    return None


def _may_be_mailgun_or_text(text: bytes, start: int, end: int) -> bool:
    """Says whether the anchor is a key of Mailgun or base64 of text."""
    return end - start == 50 or _text_begins(text, start) is not None


_LETTERS_ONLY = re.compile(rb"[A-Za-z0-9+/_-]{20,24}")
_PRINTABLE = re.compile(rb"[\t\n\r -~]*")


def base64_texts(text: bytes) -> Iterator[tuple[int, int]]:
    """Yields the stretches of base64 letters that decode to text, line breaks included, from a whole group on."""
    for run in _RUN.finditer(text):
        places = (_text_begins(text, groups.start()) for groups in _TEXT_GROUPS.finditer(text, run.start(), run.end()))
        place = next((place for place in places if place is not None), None)
        if place is not None:
            before = sum(map(len, re.findall(rb"[A-Za-z0-9+/_-]+", text[run.start() : place])))
            yield (run.start() if before % 4 == 0 else place), run.end()


_TEXT_GROUPS = re.compile(_BASE64_TEXT.encode())

_MAILGUN = token_finder("mailgun", BOUND, r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9A-Za-z-])")

FAMILIES: tuple[Family, ...] = (
    Family(
        "tokens and commands",
        "|".join((*(token_anchor(head, tail) for _, head, tail in TOKENS), _COMMAND_ANCHOR)),
        (*(token_finder(*token) for token in TOKENS), find_aws_secret, _find_headers, _find_cookies, _find_jwk_members),
        before=256,
        after=1_500,
        is_plausible=_may_be_token,
    ),
    *(Family(kind, anchor, (token_finder(kind, head, tail),), before=96) for kind, head, tail, anchor in SHAPES),
    Family(
        "private keys",
        r"---- ?BEGIN [A-Z0-9 ]*PRIVATE KEY|Private-Lines:|MII[A-J][A-Za-z0-9+/]{2}IBA|b3BlbnNzaC1rZXktdjE|MHcCAQEE|"
        r"MIGHAgEAMBMG|MC4CAQAwBQYDK2Vw",
        (_find_private_keys,),
        after=26_000,
    ),
    Family(
        "urls",
        r"://[A-Za-z0-9_-]{20,255}@|(?::|%3[aA])(?:\\*/|%2[fF]){2}[^ /@\"'<>`\\]*(?::|%3[aA])[^ \"'<>`\\]{3,200}(?:@|%40)",
        (_find_url_passwords,),
    ),
    Family("assignments", ANCHOR, (find_assigned, find_over_breaks), before=96, after=256, is_plausible=may_be_secret),
    Family(
        "mailgun and base64",
        rf"[0-9a-f]{{32}}-[0-9a-f]{{8}}-[0-9a-f]{{8}}|{_BASE64_TEXT}",
        (_MAILGUN,),
        after=3_000,
        has_base64=True,
        is_plausible=_may_be_mailgun_or_text,
    ),
)
