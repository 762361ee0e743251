"""Reads a file of each kind: its title and its sections, with page or chapter.

Runs in the process of `worker`, whose memory and time are limited. Nothing that a file names is
fetched or opened.
"""

import posixpath
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from itertools import islice, pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from memory_assets.extras.library.contents import (
    BYTE_ORDERS,
    HEADINGS,
    MOST_MEMBERS,
    MOST_SECTIONS,
    MOST_UNPACKED,
    Contents,
    DocumentSection,
    UnreadableError,
    cleaned,
)

KINDS = {
    ".pdf": "pdf", ".epub": "epub", ".docx": "docx", ".html": "html", ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown", ".markdown": "markdown", ".txt": "text", ".text": "text", ".rst": "text",
}  # fmt: skip
"""Ending of a file → its kind; PDF, EPUB and DOCX are known by their content."""

HEAD_BYTES = 4_096
MOST_BOOKMARKS = 5_000
MISREAD = (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, ValueError, OSError,
           EOFError)  # fmt: skip
"""What `zipfile` raises for a damaged member."""

PROTECTED = "It is encrypted. Save a copy without a password, and add that."
_SPLIT_WORD = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad][ \t]*\n(?=[^\W\d_A-Z])")
"""A word that the end of a line of print splits."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
_TITLE = re.compile(r"(?m)^title:[ \t]*['\"]?(.+?)['\"]?[ \t]*$")
_HEADING_STYLE = re.compile(r"(?:heading [1-3]|title)", re.I)


def read_file(path: Path) -> Contents:
    """Returns the contents of the file; raises `UnreadableError` where it has none that can be
    read.
    """
    content = path.read_bytes()
    kind = kind_of(path.suffix.lower(), content)
    title, sections = READERS[kind](content)
    return cleaned(kind, title or path.stem, sections)


def kind_of(suffix: str, content: bytes) -> str:
    """Returns the kind of the file by its content, else by its ending; raises `UnreadableError` for
    others.
    """
    head = content[:HEAD_BYTES]
    if b"%PDF-" in head[:1_024]:
        return "pdf"
    if head.startswith(b"PK\x03\x04"):
        return _kind_of_zip(content)
    kind = KINDS.get(suffix, "")
    is_text = b"\0" not in head or head.startswith(BYTE_ORDERS)
    if is_text and kind in ("html", "markdown", "text"):
        return kind
    if kind:
        raise UnreadableError(f"Its name says {kind}, its content does not.")
    raise UnreadableError(
        "Its kind is not known. PDF, EPUB, DOCX, HTML, Markdown and plain text (.txt) are read."
    )


def _kind_of_zip(content: bytes) -> str:
    names = set(_open_zip(content).namelist())
    if "word/document.xml" in names:
        return "docx"
    if "META-INF/container.xml" in names:
        return "epub"
    raise UnreadableError(
        "It is a zip file, and neither EPUB nor DOCX. Unpack it, and add the files."
    )


def _open_zip(content: bytes) -> zipfile.ZipFile:
    """Returns the zip; raises `UnreadableError` where it is damaged, or would take too much room
    unpacked.
    """
    try:
        archive = zipfile.ZipFile(BytesIO(content))
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise UnreadableError(f"It is damaged: {error}.") from error
    members = archive.infolist()
    size = sum(member.file_size for member in members)
    if len(members) > MOST_MEMBERS or size > MOST_UNPACKED:
        raise UnreadableError(
            f"Unpacked it would have more than {MOST_UNPACKED // 1_000_000} MB or "
            f"{MOST_MEMBERS:,} files."
        )
    if any(member.flag_bits & 1 for member in members):
        raise UnreadableError(PROTECTED)
    return archive


def read_pdf(content: bytes) -> tuple[str, Iterator[DocumentSection]]:
    """Returns the title and the pages of a PDF, each with the bookmark that it is below."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(BytesIO(content), strict=False)
        if reader.is_encrypted and not _opens(reader):
            raise UnreadableError(PROTECTED)
        count = len(reader.pages)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableError(f"It is damaged, or no PDF: {error}.") from error
    if count > MOST_SECTIONS:
        raise UnreadableError(f"It has {count:,} pages; the limit is {MOST_SECTIONS:,}. Split it.")
    return _pdf_title(reader), _pages(reader, count)


def _opens(reader: Any) -> bool:
    """Returns whether the PDF opens without a password, as those do that only restrict printing."""
    try:
        return bool(reader.decrypt(""))
    except Exception:  # also without the package that AES needs
        return False


def _pdf_title(reader: Any) -> str:
    try:
        return str(reader.metadata.title or "") if reader.metadata else ""
    except Exception:  # whatever a damaged file leads to, its pages are read
        return ""


def _pages(reader: Any, count: int) -> Iterator[DocumentSection]:
    chapters = _bookmarks(reader)
    chapter = ""
    failed = 0
    for number in range(count):
        chapter = chapters.get(number, chapter)
        try:
            text = reader.pages[number].extract_text() or ""
        except MemoryError:
            raise
        except Exception:  # one damaged page does not keep the others from being read
            text = ""
            failed += 1
        yield DocumentSection(_SPLIT_WORD.sub("", text), number + 1, chapter)
    if failed == count:
        raise UnreadableError("It is damaged: none of its pages can be read.")


def _bookmarks(reader: Any) -> dict[int, str]:
    """Returns the name of the first bookmark on each page, from 0."""
    names: dict[int, str] = {}
    # An outline is a help, no more.
    with suppress(Exception):
        for bookmark in islice(_flattened(reader.outline), MOST_BOOKMARKS):
            page = reader.get_destination_page_number(bookmark)
            if page is not None:
                names.setdefault(page, str(bookmark.title))
    return names


def _flattened(outline: list[Any]) -> Iterator[Any]:
    for item in outline:
        if isinstance(item, list):
            yield from _flattened(item)
        else:
            yield item


def read_epub(content: bytes) -> tuple[str, Iterator[DocumentSection]]:
    """Returns the title and the sections of an EPUB, in reading order.

    The container is read here and not by ebooklib, whose licence (AGPL) would apply to this
    package, too.
    """
    book = _open_zip(content)
    try:
        rootfile = _xml(book, "META-INF/container.xml").find(".//{*}rootfile")
        path = rootfile.get("full-path", "") if rootfile is not None else ""
        package = _xml(book, path)
        files = {item.get("id"): item for item in package.iterfind(".//{*}manifest/{*}item")}
        spine = [files.get(ref.get("idref")) for ref in package.iterfind(".//{*}spine/{*}itemref")]
    except (UnreadableError, MemoryError):
        raise
    except Exception as error:
        raise UnreadableError(
            f"It is damaged: {type(error).__name__} in its table of files."
        ) from error
    folder = posixpath.dirname(path)
    pages = [
        posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
        for item in spine
        if item is not None
    ]
    if _is_locked(book, pages):
        raise UnreadableError(
            "It is protected against copying (DRM). Only an unprotected copy can be added."
        )
    return package.findtext(".//{*}metadata/{*}title") or "", _chapters(book, pages)


def _chapters(book: zipfile.ZipFile, pages: list[str]) -> Iterator[DocumentSection]:
    from memory_assets.extras.library.html import read_html

    chapter = ""
    names = set(book.namelist())
    for page in filter(names.__contains__, pages):
        for section in read_html(_member(book, page), chapter)[1]:
            chapter = section.chapter
            yield section


def _is_locked(book: zipfile.ZipFile, pages: list[str]) -> bool:
    """Returns whether text is encrypted; fonts alone are often obfuscated."""
    name = "META-INF/encryption.xml"
    if name not in book.namelist():
        return False
    locked = _xml(book, name).iterfind(".//{*}CipherReference")
    return not {unquote(reference.get("URI", "")) for reference in locked}.isdisjoint(pages)


def _xml(book: zipfile.ZipFile, name: str) -> Any:
    from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False
    )
    try:
        return etree.fromstring(_member(book, name), parser)
    except etree.XMLSyntaxError as error:
        raise UnreadableError(f"It is damaged: {name} is no XML.") from error


def _member(book: zipfile.ZipFile, name: str) -> bytes:
    try:
        return book.read(name)
    except MISREAD as error:
        raise UnreadableError(f"It is damaged: {name or 'a file'} in it cannot be read.") from error
    except MemoryError:
        raise
    except Exception as error:  # zlib and lzma raise their own
        raise UnreadableError(f"It is damaged: {name} in it cannot be unpacked.") from error


def read_docx(content: bytes) -> tuple[str, Iterator[DocumentSection]]:
    """Returns the title and the sections of a Word document, one for each heading."""
    import docx

    _open_zip(content)
    try:
        document = docx.Document(BytesIO(content))
        return str(document.core_properties.title or ""), iter(list(_docx_sections(document)))
    except MemoryError:
        raise
    except Exception as error:  # python-docx raises what lxml, zipfile and its own parts raise
        raise UnreadableError(
            f"It is damaged, or no Word document ({type(error).__name__})."
        ) from error


def _docx_sections(document: Any) -> Iterator[DocumentSection]:
    parts: list[str] = []
    chapter = ""
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            parts.append(
                "\n".join(" | ".join(cell.text for cell in row.cells) for row in block.rows)
            )
            continue
        style = block.style.name if block.style is not None else ""
        if _HEADING_STYLE.fullmatch(style or "") and block.text.strip():
            yield DocumentSection("\n\n".join(parts), chapter=chapter)
            parts = []
            chapter = block.text
        parts.append(block.text)
    yield DocumentSection("\n\n".join(parts), chapter=chapter)


def read_markdown(content: bytes) -> tuple[str, Iterator[DocumentSection]]:
    """Returns the title and the sections of a Markdown file, one for each heading of the first
    three levels.
    """
    from markdown_it import MarkdownIt

    text = _decoded(content)
    matter = _FRONT_MATTER.match(text)
    named = _TITLE.search(matter[1]) if matter else None
    text = _COMMENT.sub("", text[matter.end() :] if matter else text)
    tokens = MarkdownIt("commonmark").parse(text)
    lines = text.splitlines(keepends=True)
    headings = [
        (token.map[0], inline.content)
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.tag in HEADINGS and token.map and not token.level
    ]
    title = named[1] if named else next((name for _, name in headings), "")
    spans = pairwise([(0, ""), *headings, (len(lines), "")])
    return title, (
        DocumentSection("".join(lines[first:end]), chapter=name)
        for (first, name), (end, _) in spans
    )


def read_text(content: bytes) -> tuple[str, Iterator[DocumentSection]]:
    """Returns the text of a plain file; its title is the name of the file."""
    return "", iter([DocumentSection(_decoded(content))])


def _html(content: bytes) -> tuple[str, Iterator[DocumentSection]]:
    from memory_assets.extras.library.html import read_html

    title, sections = read_html(content)
    return title, iter(sections)


def _decoded(content: bytes) -> str:
    if content.startswith(BYTE_ORDERS):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


READERS: Mapping[str, Callable[[bytes], tuple[str, Iterator[DocumentSection]]]] = {
    "pdf": read_pdf, "epub": read_epub, "docx": read_docx, "html": _html, "markdown": read_markdown,
    "text": read_text,
}  # fmt: skip
