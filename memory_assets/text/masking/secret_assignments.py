"""Finds secrets by the name that they are assigned to.

The assignment may be in `.env`, JSON, YAML, code, URL queries, flags, headers or prose. `ANCHOR`
finds candidates in raw text, where every quote may be escaped any number of times, and
`may_be_secret` drops those that are plainly words or code. `find_assigned` reads unwrapped text;
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
from memory_assets.text.patterns import byte_patterns_beside, texts_beside

_TEXTS = texts_beside(__file__)
_PATTERNS = byte_patterns_beside(__file__)
PASSWORDS = _TEXTS["_passwords"]


_HINTS = (
    "pass psk pswd pw secret key cred string auth jwt bearer dsn token pat salt certificate".split()
)
_HINT = re.compile("|".join(f"{hint[0]}(?={hint[1:]})" for hint in _HINTS).encode())
"""Every name of a secret contains one of these hints. Trying the expressions only near a hint is
much faster than searching with them.
"""
_BEFORE_HINTS = {
    b"k": len("application-"),
    b"s": len("connection-"),
    b"a": len("_"),
    b"p": len("_"),
    b"c": len("A_APP_"),
}
"""First letter of a hint → how many characters of the name may be before the hint."""
_BEFORE = re.compile(rb"[A-Za-z0-9_.$-]{0,48}\Z")
_IS_PASSWORD = re.compile(rf"{PASSWORDS}|(?:pass|pw)\Z".encode(), re.IGNORECASE)


def find_assigned(text: bytes) -> Iterator[Span]:
    """Yields each secret value that is assigned to the name of a secret."""
    for match in _at_names(_PATTERNS["assigned"], text, overlapping=False):
        is_bare = match["quoted"] is None
        value = _trim_punctuation(match["bare"]) if is_bare else match["quoted"]
        start = match.start("bare" if is_bare else "quoted")
        if _assigns_secret(text, match, start, value, is_bare=is_bare):
            yield start, start + len(value)


def _assigns_secret(
    text: bytes, match: re.Match[bytes], value_start: int, value: bytes, *, is_bare: bool
) -> bool:
    head = _name_before(text, match.start("name"))
    start = match.start("name") - len(head)
    name = head + match["name"]
    if _is_other_name(name) or (is_bare and _is_call(value)):
        return False
    is_password = _IS_PASSWORD.search(name) is not None
    separator = text[match.end("name") : value_start]
    if not separator.strip(b" \t\"'"):
        is_line = _is_line(text, start, match, value_start + len(value))
        if not (is_line or _needs_no_separator(name, value, is_password)):
            return False
    is_quoted = not is_bare or name.startswith(b"--") or _is_variable(name, separator)
    if is_secret_value(value, quoted=is_quoted, password=is_password):
        return True
    is_in_query = separator == b"=" and text[start - 1 : start] in (b"?", b"&", b";")
    return is_in_query and is_bare_secret(value)


def _is_other_name(name: bytes) -> bool:
    return _PATTERNS["not_secret_names"].search(name) is not None or _is_id(name)


def _is_variable(name: bytes, separator: bytes) -> bool:
    return separator.strip() in (b"=", b":", b"") and not re.search(rb"[a-z]", name)


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


_GAP = re.compile(rb"[ \t]{2,}|\t|[ \t]+[\"']")
_COMPOUND = re.compile(rb"_|[a-z][A-Z]")
_ENDS = re.compile(rb"[\"']?;?[ \t]*(?:[\n\"'`]|\r|\Z)")


def _is_line(text: bytes, start: int, match: re.Match[bytes], end: int) -> bool:
    """Returns whether name and value are columns of a line, or the whole line.

    Examples are `DB_PASSWORD   …` and `AuthLDAPBindPassword …`.
    """
    if not _PATTERNS["begins"].search(text, max(0, start - 48), start):
        return False
    is_compound = _COMPOUND.search(text, start, match.end("name")) is not None
    return _GAP.match(text, match.end("name")) is not None or (
        is_compound and _ENDS.match(text, end) is not None
    )


_HEX = re.compile(rb"[0-9a-f]{32,}")


def _needs_no_separator(name: bytes, value: bytes, is_password: bool) -> bool:
    """Returns whether a blank between name and value is enough for an assignment.

    It is after a flag, before a value that looks like a password, and between a variable and a long
    generated value.
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


_BROKEN = _PATTERNS["broken"]
"""A name and what may be its value, with line breaks between them; both without Markdown's marks of
bold words.
"""
_LINE_BEGINS = _PATTERNS["line_begins"]
_BOLD = re.compile(rb"[*_]+|(?<=:)[ \t]*[|>][+-]?(?=\s)")
"""Marks of Markdown's bold words, and those of YAML before a text of several lines."""
_BLOCK = re.compile(rb":[ \t]*[|>]")
_BLOCK_LINE = re.compile(rb"\r?\n[ \t]+([A-Za-z0-9+/=_-]{8,400})(?=[ \t\r]*(?:\n|\Z))")


def find_over_breaks(text: bytes) -> Iterator[Span]:
    """Yields each secret value that is one or more lines below its name.

    `find_assigned` judges name and value after they were put on one line. Harnesses cut texts into
    blocks, and readers join them again; so a name may end one block, and its value begin the next.
    """
    for match in _at_names(_BROKEN, text, overlapping=True) if b"\n" in text else ():
        if b"\n" not in match["between"]:
            continue
        yield from _lines_of_block(text, match)
        flat = _on_one_line(text, match)
        moved = match.end() - len(flat)
        for start, end in find_assigned(flat):
            if moved + start >= match.start("value"):
                yield moved + start, moved + end


def _lines_of_block(text: bytes, match: re.Match[bytes]) -> Iterator[Span]:
    """Yields the second and later lines of a value that YAML has as a text of several lines."""
    is_block = _BLOCK.search(match["between"]) is not None
    end = match.end()
    while is_block and is_random(match["value"]):
        line = _BLOCK_LINE.match(text, end)
        if not line or not is_random(line[1]):
            return
        yield line.span(1)
        end = line.end()


def _on_one_line(text: bytes, match: re.Match[bytes]) -> bytes:
    """Returns name and value on one line.

    A colon is put between them if each had a line of its own, or if the name is `Bearer`.
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
_RAW_TYPE = re.compile(
    rb"(?:[A-Za-z ][A-Za-z&'. |\[\]]{0,24}= *|[\w.& ]{0,40}[(\[][bru]?(?=\\*[\"'`]))\\*[\"'`]?"
)
"""The type between a name and its value, as in `password: str = "…"`, or the call that makes it."""
_RAW_JOINT = re.compile(
    rb"\\*[\"'];?[ \t]*(?:[+.&~]|(?:\\+n|\n)[ \t]*(?:\\*[\"']|\$?\w{1,60}[+.]=)"
    rb"|,[^\]\n]{1,200}\][ \t]*\.join\()"
)
"""What follows a part of a value that is written in parts."""
_RAW_CODE = re.compile(rb"[&*!(]*[A-Za-z_.:]+[(\[{].*", re.DOTALL)


def may_be_secret(text: bytes, _: int, end: int) -> bool:
    """Returns whether an assigned value, still escaped, may be more than a word, a name or a call.

    Most values in code are not, and need not be unwrapped.
    """
    declared = _RAW_TYPE.match(text, end - 6, end + 80)
    joint = _RAW_JOINT.search(text, end - 4, end + 200)
    if joint and joint.start() < end:
        return True
    return _may_be_value(text, end - 6) or (
        declared is not None and _may_be_value(text, declared.end())
    )


def _may_be_value(text: bytes, start: int) -> bool:
    raw = _RAW_VALUE.match(text, start, start + 206)
    value = raw[0] if raw else b""
    end = start + len(value)
    if text[end : end + 2] in (b"\\u", b"\\x", b"\\\\") or b"%" in value:
        return True
    if _RAW_JOINT.match(text, end):
        return True
    is_quoted = _QUOTE_BEFORE.search(text, max(start - 4, 0), start) is not None
    if (not is_quoted and _RAW_CODE.fullmatch(value)) or b"****" in value:
        return False
    return is_varied(value) or is_random(value, 0.25) or re.search(rb"[0-9]{6}", value) is not None


ANCHOR = _TEXTS["_anchor"]
