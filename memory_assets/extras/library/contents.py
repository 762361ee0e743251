"""What a reader of documents returns: titles and sections; and the limits that keep a hostile file
from taking the machine.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MEGABYTE = 1_000_000
LARGEST_FILE = 100 * MEGABYTE
MOST_UNPACKED = 500 * MEGABYTE
"""Bytes of all files in a zip (EPUB, DOCX), unpacked."""

MOST_MEMBERS = 10_000
"""Files in a zip."""

MOST_SECTIONS = 20_000
"""Pages of a PDF, sections of other kinds."""

MOST_CHARS = 20_000_000
"""Characters of the text: about forty long books."""

HEADINGS = ("h1", "h2", "h3")
"""What begins a section."""

BYTE_ORDERS = (b"\xff\xfe", b"\xfe\xff")
"""What UTF-16 begins with."""

LONGEST_NAME = 200
"""Characters of a title or a chapter's name."""

_BLANK_LINES = re.compile(r"\n{3,}")
_LINE_END = re.compile(r"[ \t\r\f\v\xa0]*\n")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b\u2060\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Control characters, characters of no width and lone surrogates: invisible, and they split words
that are searched for.
"""


class UnreadableError(Exception):
    """The file cannot be read; its text says why, and what to do."""


@dataclass(frozen=True)
class DocumentSection:
    """A part of a document: a page, or what is below a heading."""

    text: str
    page: int | None = None
    """From 1; only a PDF has pages."""
    chapter: str = ""
    """The heading that it is below."""


@dataclass(frozen=True)
class Contents:
    """What a file contains."""

    kind: str
    title: str
    sections: tuple[DocumentSection, ...]


def cleaned(kind: str, title: str, sections: Iterable[DocumentSection]) -> Contents:
    """Returns the sections with text, in plain characters; raises `UnreadableError` for none, or
    for too much.
    """
    written = tuple(_within_limits(sections))
    if not written:
        scanned = (
            "It may be scanned: add its text with OCR software first. " if kind == "pdf" else ""
        )
        raise UnreadableError(f"It has no text. {scanned}Nothing was added.")
    return Contents(kind, name_of(title), written)


def clean(text: str) -> str:
    """Returns the text without invisible characters, and without more than one blank line at a
    place.
    """
    visible = _UNSEEN.sub("", _LINE_END.sub("\n", text.replace("\r\n", "\n")))
    return _BLANK_LINES.sub("\n\n", visible).strip()


def name_of(text: str) -> str:
    """Returns a title or a chapter's name as one line of bounded length."""
    line = " ".join(clean(text).split())
    return line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1].rstrip() + "…"


def _within_limits(sections: Iterable[DocumentSection]) -> Iterator[DocumentSection]:
    characters = 0
    for count, section in enumerate(sections, 1):
        text = clean(section.text)
        characters += len(text)
        if count > MOST_SECTIONS:
            raise UnreadableError(
                f"It has more than {MOST_SECTIONS:,} pages or sections. Split it."
            )
        if characters > MOST_CHARS:
            raise UnreadableError(f"It has more than {MOST_CHARS:,} characters of text. Split it.")
        if text:
            yield DocumentSection(text, section.page, name_of(section.chapter))
