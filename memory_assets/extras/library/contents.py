"""What a reader of documents returns: title and sections. Also the limits on size, which keep a
hostile file from using up memory and time.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memory_assets.text.words import squeezed, truncated

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
"""Headings that begin a section."""

BYTE_ORDERS = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks with which a text in UTF-16 begins."""

LONGEST_NAME = 200
"""Characters of a title or a chapter's name."""

FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
"""The fields in YAML at the beginning of a Markdown file."""

_BLANK_LINES = re.compile(r"\n{3,}")
_LINE_END = re.compile(r"[ \t\r\f\v\xa0]*\n")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b\u2060\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Control characters, characters of no width and lone surrogates. They are invisible, and a word
that contains one is not found.
"""


class UnreadableError(Exception):
    """The file cannot be read; the message says why and what to do."""


@dataclass(frozen=True)
class DocumentSection:
    """A part of a document: a page, or the text below a heading."""

    text: str
    page: int | None = None
    """From 1; only a PDF has pages."""
    chapter: str = ""
    """The heading that it is below."""


@dataclass(frozen=True)
class Contents:
    """Kind, title and text of a file."""

    kind: str
    title: str
    sections: tuple[DocumentSection, ...]


def cleaned(kind: str, title: str, sections: Iterable[DocumentSection]) -> Contents:
    """Returns the contents without invisible characters and empty sections.

    Raises `UnreadableError` where there is no text, or too much.
    """
    readable_sections = tuple(_within_limits(sections))
    if not readable_sections:
        hint = "It may be scanned: add its text with OCR software first. " if kind == "pdf" else ""
        raise UnreadableError(f"It has no text. {hint}Nothing was added.")
    return Contents(kind, name_of(title), readable_sections)


def clean(text: str) -> str:
    """Returns the text without invisible characters, its blank lines in a row as one."""
    visible = _UNSEEN.sub("", _LINE_END.sub("\n", text.replace("\r\n", "\n")))
    return _BLANK_LINES.sub("\n\n", visible).strip()


def name_of(text: str) -> str:
    """Returns the text as one line of at most `LONGEST_NAME` characters, for a title or chapter."""
    return truncated(squeezed(clean(text)), LONGEST_NAME)


def _within_limits(sections: Iterable[DocumentSection]) -> Iterator[DocumentSection]:
    """Yields the sections with text, cleaned; raises `UnreadableError` beyond a limit."""
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
