"""Secrets that are recognised by the name they are assigned to: `.env`, JSON, YAML, code, URL
queries, flags, headers, prose.

`find_assigned` reads unwrapped text. `ANCHOR` finds candidates in raw text, where every quote may
be escaped any number of times, and `may_be_secret` drops those that are plainly words or code.
`secret_values` judges the values.
"""

import re
from collections.abc import Iterator

from memory_assets.text.masking.secret_values import (
    AWS_SECRET,
    is_bare_secret,
    is_random,
    is_secret_value,
    is_varied,
)
from memory_assets.text.masking.unwrap import Span

PASSWORDS = r"passw(?:or)?d|passphrase|passcode|passwort|pwd|pswd|psk"
_SHORT_PASSWORD = (
    r"(?:(?<=[_-])(?:pass|pw)|(?-i:pass|Pass|(?<=[a-z])Pw"
    r"|(?<![A-Za-z0-9])pw))(?=[\"']?[ \t]*[=:]|[ \t]{2}|\t)"
)
"""They are parts of words, too: what assigns a value has to follow."""
_KEYS = (
    r"(?:access|account|private|signing|encryption|encrypt|master|service|storage|shared"
    r"|client|app|application|license|"
    r"webhook|auth|deploy|admin|session|hmac|jwt|ssh|rsa|aes|cipher|primary|secondary)[_-]?key"
)
_NAMES = (
    rf"{PASSWORDS}|secret|api[_. -]?key|{_KEYS}|credentials?|creds|connection[_-]?string"
    r"|authorization|jwt|bearer|_auth|dsn"
)
"""Names of secrets, besides `token`, `_VARIABLES`, `…_pat` and `"auth"`, which count in some
spellings only.
"""

_VARIABLES = r"[A-Z0-9]_(?:KEY|SALT|APP_CERTIFICATE)"
"""Names of variables in capitals; Agora calls a secret the certificate of the app."""

_NAME = (
    rf"(?:{_NAMES}|{_SHORT_PASSWORD}|token|{_VARIABLES}|(?<=[\"'])auth(?=[\"'\\])"
    r"|[_-]pat(?![A-Za-z0-9_-]))"
)
_SUFFIX = r"(?:[_-]?(?:[A-Z]?[a-z0-9]{1,12}|[A-Z0-9]{1,12})){0,2}"
_LINE_START = r"(?:[0-9]{1,6}(?:\t|\xe2\x86\x92)|[+>|-])?[ \t]*"
"""Line numbers, and the signs of diffs and quotations."""
_VALUE = r"[\"']?value[\"']?[ \t]*[:=][ \t]*"
_SEPARATORS = (
    r"(?:\\?[\"'`\])]){0,3}[ \t]*(?::?[ \t]*[A-Za-z&'.|\[\]]{1,24}[ \t]*=|=>|:{1,3}="
    r"|[.+?|]{1,2}=|==?|:|>)[ \t]*"
    r"(?:\n[ \t]*(?=[\"'`]))?",
    r"[\"']?,(?=[A-Za-z0-9_+/=-]{11,}(?:,|\s|\Z))",
    rf"[\"']?[ \t]*,[ \t\n]*(?:{_VALUE})?(?=\\?[\"'`])",
    rf"[\"']?,?[ \t\n]+{_LINE_START}{_VALUE}",
    r"\([ \t]*(?=[\"'`])",
    r"</key>\s{0,4}[^<\n]{0,80}<string>",
    r"[ \t]+(?:is|was|ist|lautet)[ \t]*:?[ \t]+",
    r"(?:[ \t]{2,}|\t)(?=[\"']?[^\s\"'`=:(){}\[\]<>,;]\S{5,})",
    r"[ \t]+(?=[\"'][^\s\"']{6,400}[\"'];?[ \t]*(?:[\n\r\"'`]|\Z))",
    r"(?<=[a-z])[ \t]+(?=[^\s\"'`=:(){}\[\]<>,;]{8,}(?:[\s\"'`,;&<]|$))",
)
_SCHEMES = "Bearer|Basic|Token|SSWS|GenieKey|Splunk|Bot|ApiKey|OAuth|Key"
"""The word before a credential in an Authorization header."""
_SCHEME = rf"(?:(?:{_SCHEMES})[ \t]+)?"
_QUOTED = (
    rf"(?P<escape>\\?)(?P<quote>[\"'`]){_SCHEME}(?P<quoted>(?:\\(?![\"'])[^\n]"
    rf"|(?!(?P=quote))[^\n\\]){{6,4000}}?)"
    r"(?:(?P=escape)(?P=quote)|\Z)"
)
"""The end of the text ends it too: a window that has to be widened, or a torn line."""
_BARE = (
    r"(?P<bare>(?:[^\s\"'`&;,<>\\]|[&;,](?!\s|$|amp;|[A-Za-z][\w.-]*[=:])"
    r"|\\(?![\"'`nrt\\])){6,4000})"
)
_ASSIGNED = re.compile(
    rf"(?P<name>{_NAME}{_SUFFIX})(?:{'|'.join(_SEPARATORS)})(?:[bfru@](?=[\"'`]))?{_SCHEME}"
    rf"(?:{_QUOTED}|{_BARE})".encode("latin-1"),
    re.IGNORECASE,
)
_HINTS = (
    "pass psk pswd pw secret key cred string auth jwt bearer dsn token pat salt certificate".split()
)
_HINT = re.compile("|".join(f"{hint[0]}(?={hint[1:]})" for hint in _HINTS).encode())
"""Every name holds one of these; to try the expressions only there is much faster than to search
with them.
"""
_BEFORE_HINTS = {
    b"k": len("application-"),
    b"s": len("connection-"),
    b"a": len("_"),
    b"p": len("_"),
    b"c": len("A_APP_"),
}
"""How many characters of a name may be before its hint, by the hint's first letter."""
_BEFORE = re.compile(rb"[A-Za-z0-9_.$-]{0,48}\Z")
_NOT_SECRET_NAMES = re.compile(
    rb"(?:public|foreign|sort|partition|cache|group|dedupe|idempotency|object|hash|sha"
    rb"|checksum|digest|next|page|"
    rb"continuation|cancellation|csrf_?param)[_.-]?(?:key|token)"
    rb"|token[_-]?(?:type|count|limit|usage|budget|url|uri|path|file|name|id|endpoint|izer)"
    rb"|(?:secret|password|key|credential|token|auth)s?[_-]?"
    rb"(?:name|file|path|url|uri|ref|helper|provider|arn|type|field|length|id|env|var)\Z"
    rb"|author|tokens|tokeniz",
    re.IGNORECASE,
)
_IS_PASSWORD = re.compile(rf"{PASSWORDS}|(?:pass|pw)\Z".encode(), re.IGNORECASE)


def find_assigned(text: bytes) -> Iterator[Span]:
    """Yields each secret value that is assigned to the name of a secret."""
    for match in _at_names(_ASSIGNED, text, overlapping=False):
        start = match.start("name")
        head = _name_before(text, start)
        name = head + match["name"]
        group = "quoted" if match["quoted"] is not None else "bare"
        value = match[group] if group == "quoted" else _trim_punctuation(match["bare"])
        if _NOT_SECRET_NAMES.search(name) or _is_id(name) or (group == "bare" and _is_call(value)):
            continue
        is_password = _IS_PASSWORD.search(name) is not None
        separator = text[match.end("name") : match.start(group)]
        has_sign = bool(separator.strip(b" \t\"'"))
        is_line = not has_sign and _is_line(
            text, start - len(head), match, match.start(group) + len(value)
        )
        if not has_sign and not is_line and not _needs_no_separator(name, value, is_password):
            continue
        is_variable = separator.strip() in (b"=", b":") and not re.search(rb"[a-z]", name)
        quoted = group == "quoted" or is_variable or name.startswith(b"--")
        in_query = separator == b"=" and text[start - len(head) - 1 : start][:1] in (
            b"?",
            b"&",
            b";",
        )
        if is_secret_value(value, quoted=quoted, password=is_password) or (
            in_query and is_bare_secret(value)
        ):
            yield match.start(group), match.start(group) + len(value)


def _at_names(
    pattern: re.Pattern[bytes], text: bytes, *, overlapping: bool
) -> Iterator[re.Match[bytes]]:
    """Yields the matches of a pattern that begins with the name of a secret."""
    done = 0
    for hint in _HINT.finditer(text.lower()):
        for start in range(max(done, hint.start() - _BEFORE_HINTS.get(hint[0], 0)), hint.end()):
            match = pattern.match(text, start)
            if match:
                yield match
                if not overlapping:
                    done = match.end()
                    break
        done = max(done, hint.end())


def _name_before(text: bytes, start: int) -> bytes:
    """Returns the part before `start` of the name that continues there."""
    head = _BEFORE.search(text, max(0, start - 48), start)
    return head[0] if head else b""


def _is_id(name: bytes) -> bool:
    """Returns whether the name is part of a random id by chance, as `pwD` in `toolu_01pwD2x`."""
    return len(name) >= 12 and re.search(rb"[0-9]", name) is not None and is_random(name, 0.6)


_BEGINS = re.compile(
    rb"(?:\A|[\n\"'`])[ \t]*(?:[0-9]{1,6}(?:\t|\xe2\x86\x92)|[+>|-])?[ \t]*(?:(?:export|set"
    rb"|setenv)[ \t]+)?\Z"
)
_GAP = re.compile(rb"[ \t]{2,}|\t|[ \t]+[\"']")
_COMPOUND = re.compile(rb"_|[a-z][A-Z]")
_ENDS = re.compile(rb"[\"']?;?[ \t]*(?:[\n\"'`]|\r|\Z)")


def _is_line(text: bytes, start: int, match: re.Match[bytes], end: int) -> bool:
    """Returns whether name and value are columns of one line, or all of it: `DB_PASSWORD   …`,
    `AuthLDAPBindPassword …`.
    """
    if not _BEGINS.search(text, max(0, start - 48), start):
        return False
    is_compound = _COMPOUND.search(text, start, match.end("name")) is not None
    return _GAP.match(text, match.end("name")) is not None or (
        is_compound and _ENDS.match(text, end) is not None
    )


_HEX = re.compile(rb"[0-9a-f]{32,}")


def _needs_no_separator(name: bytes, value: bytes, is_password: bool) -> bool:
    """Returns whether a blank assigns the value: after a flag, a variable if it is long, or a
    password by its look.
    """
    if name.startswith(b"--"):
        return True
    if is_password and is_varied(value, kinds=4):
        return True
    is_generated = (
        is_random(value, 0.5)
        or _HEX.fullmatch(value) is not None
        or AWS_SECRET.fullmatch(value) is not None
    )
    return b"_" in name and len(value) >= 20 and is_generated


_BROKEN = re.compile(
    rf"(?P<name>(?:{_NAMES}|(?<=[_-])(?:pass|pw)|token"
    rf"|{_VARIABLES}){_SUFFIX})(?P<closing>[\"'`\])*_]{{0,3}})"
    rf"(?P<between>\s{{0,8}}(?:(?:=>|:=|:[ \t]*[|>][+-]?|[:=>])[*_]{{0,3}}|"
    rf"(?<=\s)(?:is|was|ist|lautet)(?=[\s:]):?)?\s{{0,8}}(?:(?:{_SCHEMES})\s{{1,8}})?)"
    rf"(?<=\s)[*_]{{0,3}}(?P<value>[\"'`][^\s\"'`]{{6,4000}}[\"'`]|[^\s\"'`*_]\S{{5,4000}})".encode(
        "latin-1"
    ),
    re.IGNORECASE,
)
"""A name and what may be its value with line breaks between them, without Markdown's marks of bold
words.
"""
_LINE_BEGINS = re.compile(
    rb"(?:\A|[\n\"'`])[ \t>*_#-]*(?:(?:my|our|your|the|mein|das)[ \t]+)?\Z", re.IGNORECASE
)
_BOLD = re.compile(rb"[*_]+|(?<=:)[ \t]*[|>][+-]?(?=\s)")
"""Marks of Markdown's bold words, and those of YAML before a text of several lines."""


def find_over_breaks(text: bytes) -> Iterator[Span]:
    """Yields each secret value that is a line or more below its name, judged as `find_assigned`
    judges both on one line.

    Harnesses cut texts into blocks, and readers join them again, so a name may end one block and
    its value begin the next.
    """
    for match in _at_names(_BROKEN, text, overlapping=True) if b"\n" in text else ():
        if b"\n" not in match["between"]:
            continue
        flat = _on_one_line(text, match)
        moved = match.end() - len(flat)
        for start, end in find_assigned(flat):
            if moved + start >= match.start("value"):
                yield moved + start, moved + end


def _on_one_line(text: bytes, match: re.Match[bytes]) -> bytes:
    """Returns name and value on one line, a colon between them where each had a line of its own, or
    the name is `Bearer`.
    """
    start = match.start()
    closing = _BOLD.sub(b"", match["closing"])
    between = b" ".join(_BOLD.sub(b"", match["between"]).split())
    is_bearer = match["name"].lower() == b"bearer"
    has_lines = not closing and not between and _LINE_BEGINS.search(text, max(0, start - 48), start)
    if not between and (
        is_bearer or (has_lines and not text[match.end() : match.end() + 1].strip())
    ):
        between = b":"
    return (
        _name_before(text, start)
        + match["name"]
        + closing
        + b" "
        + between
        + b" " * bool(between)
        + match["value"]
    )


_CALL = re.compile(rb"[&*!(]*([A-Za-z_][\w.:]*)[(\[{]")


def _is_call(value: bytes) -> bool:
    """Returns whether an unquoted value is a call or a composite literal of code."""
    call = _CALL.match(value)
    return call is not None and (b"." in call[1] or not is_random(call[1], 0.55))


_OPENING = {b")": b"(", b"]": b"[", b"}": b"{"}


def _trim_punctuation(value: bytes) -> bytes:
    """Returns an unquoted value without the punctuation of the sentence or code around it."""
    value = value.rstrip(b".,;:!")
    while value[-1:] in (b")", b"]", b"}") and value.count(value[-1:]) > value.count(
        _OPENING[value[-1:]]
    ):
        value = value[:-1].rstrip(b".,;:!")
    return value


_QUOTE_BEFORE = re.compile(rb"[\"'][=:,@*_]{0,3}\Z")
"""A separator in the anchor's match may be the beginning of a random value."""
_RAW_VALUE = re.compile(rb"[^\s\"'`<\\]*")
_RAW_TYPE = re.compile(rb"[A-Za-z ][A-Za-z&'. |\[\]]{0,24}= *\\*[\"'`]?")
"""The type between a name and its value, as in `password: str = "…"`."""
_RAW_CODE = re.compile(rb"[&*!(]*[A-Za-z_.:]+[(\[{].*", re.DOTALL)


def may_be_secret(text: bytes, _: int, end: int) -> bool:
    """Returns whether an assigned value, still escaped, may be more than a word, a name or a call;
    in code most are not.
    """
    declared = _RAW_TYPE.match(text, end - 6, end + 80)
    return _may_be_value(text, end - 6) or (
        declared is not None and _may_be_value(text, declared.end())
    )


def _may_be_value(text: bytes, start: int) -> bool:
    raw = _RAW_VALUE.match(text, start, start + 206)
    value = raw[0] if raw else b""
    if text[start + len(value) :][:2] in (b"\\u", b"\\x", b"\\\\") or b"%" in value:
        return True
    is_quoted = _QUOTE_BEFORE.search(text, max(start - 4, 0), start) is not None
    if (not is_quoted and _RAW_CODE.fullmatch(value)) or b"****" in value:
        return False
    return is_random(value, 0.25) or is_varied(value) or re.search(rb"[0-9]{6}", value) is not None


_BLANK = r"(?: |\\+[nrt]|\n|\r|\t)"
_SEPARATOR = (
    r"(?:\\*[\"'`\])]|&quot;|&#3[49];|%2[27]){0,3}"
    r"(?:,?(?: |\\+[nt]|\n|\t|[0-9]{1,6}(?:[\x01-\x08\x0e-\x1a\x1c-\x1f]+|\t|\\+t|\\+u2192)"
    r"|[+>|-])*\\*[\"']?value|"
    rf"(?:{_BLANK}|%20)*"
    r"(?:=>|[:.+?|]{0,3}=|:(?: |\\t|\t)*[|>][+-]?|[:,>(]|</key>[^<]{0,90}<string>|%3[aAdD]|"
    rf"{_BLANK}+(?:is|was|ist|lautet):?{_BLANK}+|(?: |\\+t|\t){{2}}|\\+t|\t| \\*[\"']|"
    r":[A-Za-z&'. |\[\]]{1,26}=| (?:string|str|byte) ?=))"
    rf"(?:{_BLANK}|[*_]{{1,3}}|\\*[\"'`:=,@]|&quot;|&#3[49];|%2[027]"
    rf"|[bfru]\\*[\"'])*(?:(?:{_SCHEMES}|token){_BLANK}+)?"
)
_ANY_SUFFIX = "(?:[_-]?[A-Za-z0-9]{1,12}){0,2}"
_SINGULAR = "token(?:[a-rt-z0-9_-][A-Za-z0-9_-]{0,20})?"
"""Not the plural: every record of an assistant counts its tokens, and unwrapping them all would be
slow.
"""
ANCHOR = (
    rf"(?i:(?:{_NAMES}|(?-i:{_VARIABLES})){_ANY_SUFFIX}|[_-](?:pass|pw|pat)|(?-i:pass|Pass"
    rf"|pw|Pw)|[\"']auth|{_SINGULAR})"
    rf"{_SEPARATOR}[^ \t\n\\\"'`]{{6}}"
    rf"|(?i:{_NAMES}|token) +[A-Za-z0-9+/_=.-]{{20}}"
    rf"|(?i:{PASSWORDS}) [^ \t\n\\\"'`]{{8}}"
    rf"|(?i:{_NAMES}|token)[*_]{{0,3}}[ \t]*(?:\\+[nr]"
    rf"|[\n\r]){_BLANK}*[*_]{{0,3}}[^ \t\n\\\"'`*_]{{6}}"
    rf"|--[a-z-]{{0,24}}(?:{PASSWORDS}|secret|token|key|pat|credentials?)(?:="
    rf"|{_BLANK}+)\\*[\"']?[^ \t\n\\\"']{{6}}"
)
