"""Cleans text for terminals and models: it cannot move a cursor, hide or reverse text, close a tag.

`visible` is called for everything that is shown or written for others: on the command line, in
JSON, over HTTP, by the tools of agents, in hooks, exports and the lines of MEMORY.md. The module
imports the standard library only, because hooks wait for it.
"""

import re

REPLACEMENT = "\ufffd"

_CONTROLS = {
    code: REPLACEMENT for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
}
"""The control characters C0 and C1, with which every sequence that controls a terminal begins (CSI,
OSC, DCS).
"""

_REMOVED = (
    0x00AD, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xFFF9, 0xFFFC), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000,
    0xE0080),
)  # fmt: skip
"""Overrides of the writing direction, characters without width, tag characters."""
_JOINING = (
    0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x180E), 0x180F, 0x200C, 0x200D, 0x3164,
    *range(0xFE00, 0xFE10),
    0xFFA0, *range(0xE0100, 0xE01F0),
)  # fmt: skip
"""Joiners, fillers and variation selectors: some scripts and emoji need them, so they stay."""
INVISIBLE = frozenset((*_REMOVED, *_JOINING))
"""Characters that nobody sees. Masking also looks for secrets in the text without them, because a
person reads both texts alike.
"""

_UNSEEN = {**_CONTROLS, **dict.fromkeys(_REMOVED, ""), 0x2028: " ", 0x2029: " "}
_TAG = (
    r"(?i)<(?!\w+[-_](?:id|path|file|url|dir)>)(?=\s*[/!?|]?\s*(?:memory|system|user|human|assistant|developer|instructions?"
    r"|context|tool|function|antml|command|local-command|"
    r"hook|im_(?:start|end)|endof|start_of|end_of|additional|untrusted|briefing|observation"
    r"|reminder|sources|question|transcript)[\w:.-]*)([^<>\n]{0,200})>?"
)
"""Tags by which harnesses and prompts, also our own, say who speaks. Other tags, such as those of
HTML, are no danger.
"""
_JSON_ESCAPE = (
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[bfr]"
)


def printable(text: str, instead: str = REPLACEMENT) -> str:
    """Returns the text with another letter for each that is no text or moves a cursor, also for the
    ends of lines.
    """
    return "".join(letter if letter.isprintable() else instead for letter in text)


def visible(text: str) -> str:
    """Returns the text with control characters replaced and invisible characters removed.

    A tag of a speaker gets other brackets.
    """
    visible_text = text.replace("\r\n", "\n").translate(_UNSEEN)
    # Compiled only when it is needed, because compiling takes a millisecond, and hooks wait for it.
    return re.sub(_TAG, r"‹\1›", visible_text) if "<" in visible_text else visible_text


def visible_json(text: str) -> str:
    """Returns serialised JSON with `visible` applied to its strings and to their escapes."""
    return visible(re.sub(_JSON_ESCAPE, _visible_escape, text))


def _visible_escape(escape: re.Match[str]) -> str:
    """Returns the JSON escape, or what replaces it if it stands for an unwanted character."""
    from json import loads

    return _UNSEEN.get(ord(loads(f'"{escape[0]}"')), escape[0])
