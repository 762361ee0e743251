"""Writes text of others into Markdown so that a viewer shows all of it."""

import re

_CODE = re.compile(r"(`+[^`]*`+)")
_BRACKETED = re.compile(r"(?:[\w.:/@#-]*<[A-Za-z/!][^<>\n]{0,200}>)+[\w:/@#-]*|<!--|-->")
"""A word with a name in angle brackets, such as `Vec<String>`, a tag or a mark of a comment."""


def keep_brackets(text: str) -> str:
    """Returns the text with names in angle brackets as code: Markdown would take them for HTML and
    show nothing.
    """
    if "<" not in text and "-->" not in text:
        return text
    parts = _CODE.split(text)
    # Every other part is code already.
    parts[::2] = [_BRACKETED.sub(r"`\g<0>`", part) for part in parts[::2]]
    return "".join(parts)
