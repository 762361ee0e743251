"""Reads a file of any kind: its title, and its sections with page or chapter.

Runs in the process of `worker`, whose memory and time are limited. Files and addresses that a file
names are neither opened nor fetched.
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
    FRONT_MATTER,
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
"""Ending of a name → kind of the file. PDF, EPUB and DOCX are recognised by their content."""

HEAD_BYTES = 4_096
"""Bytes at the beginning of a file that its kind is recognised by."""

MOST_BOOKMARKS = 5_000
"""Bookmarks of a PDF that are read."""

MISREAD = (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, ValueError, OSError,
           EOFError)  # fmt: skip
"""Errors that `zipfile` raises for a damaged member."""

PROTECTED = "It is encrypted. Save a copy without a password, and add that."
_SPLIT_WORD = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad][ \t]*\n(?=[^\W\d_A-Z])")
"""The hyphen and the end of line that split a word in print."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_TITLE = re.compile(r"(?m)^title:[ \t]*['\"]?(.+?)['\"]?[ \t]*$")
_HEADING_STYLE = re.compile(r"(?:heading [1-3]|title)", re.I)


def read_file(path: Path) -> Contents:
    """Returns the contents of the file; raises `UnreadableError` where it cannot be read."""
    content = path.read_bytes()
    kind = kind_of(path.suffix.lower(), content)
    title, sections = READERS[kind](content)
    return cleaned(kind, title or path.stem, sections)


def kind_of(suffix: str, content: bytes) -> str:
    """Returns the kind of the file by its content, else by its ending.

    Raises `UnreadableError` for other kinds, and where ending and content disagree.
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
    """Returns the zip; raises `UnreadableError` if it is damaged, encrypted or too large."""
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
    """Returns whether an encrypted PDF opens without a password; many only restrict printing."""
    try:
        return bool(reader.decrypt(""))
    except Exception:  # for instance without the package that AES needs
        return False


def _pdf_title(reader: Any) -> str:
    try:
        return str(reader.metadata.title or "") if reader.metadata else ""
    except Exception:  # the pages may be readable where the title is damaged
        return ""


def _pages(reader: Any, count: int) -> Iterator[DocumentSection]:
    """Yields the pages, a damaged one without text; raises `UnreadableError` if all are damaged."""
    chapters = _bookmarks(reader)
    chapter = ""
    failed = 0
    for number in range(count):
        chapter = chapters.get(number, chapter)
        try:
            text = reader.pages[number].extract_text() or ""
        except MemoryError:
            raise
        except Exception:  # the other pages may be readable
            text = ""
            failed += 1
        yield DocumentSection(_SPLIT_WORD.sub("", text), number + 1, chapter)
    if failed == count:
        raise UnreadableError("It is damaged: none of its pages can be read.")


def _bookmarks(reader: Any) -> dict[int, str]:
    """Returns the name of the first bookmark on each page, from 0."""
    names: dict[int, str] = {}
    # A PDF is read without chapters where its bookmarks are damaged.
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

    The package ebooklib is not used, because its licence (AGPL) would apply to this package, too.
    """
    book = _open_zip(content)
    try:
        rootfile = _xml(book, "META-INF/container.xml").find(".//{*}rootfile")
        path = rootfile.get("full-path", "") if rootfile is not None else ""
        package = _xml(book, path)
        files = {item.get("id"): item for item in package.iterfind(".//{*}manifest/{*}item")}
        references = package.iterfind(".//{*}spine/{*}itemref")
        items = [files.get(reference.get("idref")) for reference in references]
    except (UnreadableError, MemoryError):
        raise
    except Exception as error:
        raise UnreadableError(
            f"It is damaged: {type(error).__name__} in its table of files."
        ) from error
    folder = posixpath.dirname(path)
    names = [unquote(item.get("href", "")) for item in items if item is not None]
    pages = [posixpath.normpath(posixpath.join(folder, name)) for name in names]
    if _is_locked(book, pages):
        raise UnreadableError(
            "It is protected against copying (DRM). Only an unprotected copy can be added."
        )
    return package.findtext(".//{*}metadata/{*}title") or "", _chapters(book, pages)


def _chapters(book: zipfile.ZipFile, pages: list[str]) -> Iterator[DocumentSection]:
    from memory_assets.extras.library.html import read_html

    chapter = ""
    names = set(book.namelist())
    for page in [page for page in pages if page in names]:
        _, sections = read_html(_member(book, page), chapter)
        for section in sections:
            chapter = section.chapter
            yield section


def _is_locked(book: zipfile.ZipFile, pages: list[str]) -> bool:
    """Returns whether a page is encrypted; many books obfuscate their fonts only."""
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
    except Exception as error:  # zlib and lzma have errors of their own
        raise UnreadableError(f"It is damaged: {name} in it cannot be unpacked.") from error


def read_docx(content: bytes) -> tuple[str, Iterator[DocumentSection]]:
    """Returns the title and the sections of a Word document, one for each heading."""
    import docx

    _open_zip(content)
    try:
        document = docx.Document(BytesIO(content))
        sections = list(_docx_sections(document))
        return str(document.core_properties.title or ""), iter(sections)
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
            rows = [" | ".join([cell.text for cell in row.cells]) for row in block.rows]
            parts.append("\n".join(rows))
            continue
        style = block.style.name if block.style is not None else ""
        if _HEADING_STYLE.fullmatch(style or "") and block.text.strip():
            yield DocumentSection("\n\n".join(parts), chapter=chapter)
            parts = []
            chapter = block.text
        parts.append(block.text)
    yield DocumentSection("\n\n".join(parts), chapter=chapter)


def read_markdown(content: bytes) -> tuple[str, Iterator[DocumentSection]]:
    """Returns the title and the sections of a Markdown file, one below each of its `HEADINGS`.

    The title is that of the front matter, else the first heading.
    """
    from markdown_it import MarkdownIt

    text = _decoded(content)
    stated_title = None
    front_matter = FRONT_MATTER.match(text)
    if front_matter:
        stated_title = _TITLE.search(front_matter[1])
        text = text[front_matter.end() :]
    text = _COMMENT.sub("", text)
    tokens = MarkdownIt("commonmark").parse(text)
    lines = text.splitlines(keepends=True)
    headings = [
        (token.map[0], inline.content)
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.tag in HEADINGS and token.map and not token.level
    ]
    title = headings[0][1] if headings else ""
    if stated_title:
        title = stated_title[1]
    spans = pairwise([(0, ""), *headings, (len(lines), "")])
    return title, (
        DocumentSection("".join(lines[first:end]), chapter=name)
        for (first, name), (end, _) in spans
    )


def read_text(content: bytes) -> tuple[str, Iterator[DocumentSection]]:
    """Returns no title, and the text of a plain file as one section."""
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
