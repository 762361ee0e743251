"""Files of documents for the tests, one of each kind; the PDFs are written by hand, with one line of text on each page."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)


def write_pdf(path: Path, pages: Sequence[str], bookmarks: Mapping[str, int] | None = None) -> Path:
    """Writes a PDF with these pages; `bookmarks` maps names to pages, from 1."""
    from pypdf import PdfReader, PdfWriter

    path.write_bytes(_pdf(pages))
    if bookmarks:
        writer = PdfWriter(clone_from=PdfReader(path))
        for name, page in bookmarks.items():
            writer.add_outline_item(name, page - 1)
        writer.write(path)
    return path


def encrypt_pdf(path: Path, password: str) -> Path:
    """Encrypts the PDF in place."""
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(path))
    writer.encrypt(user_password=password, owner_password="owner", algorithm="RC4-128")
    writer.write(path)
    return path


def _pdf(pages: Sequence[str]) -> bytes:
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, text in enumerate(pages):
        lines = "".join(f"({line}) Tj T* " for line in text.split("\n"))
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {lines}ET"
        resources = "/Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 612 792]"
        objects += [
            f"<< /Type /Page /Parent 2 0 R {resources} /Contents {5 + 2 * number} 0 R >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    content, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(content))
        content += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\n"
    return content + f"{end}startxref\n{len(content)}\n%%EOF\n".encode()


def write_epub(path: Path, chapters: Mapping[str, str], *, locked: Sequence[str] = ()) -> Path:
    """Writes an EPUB with a file for each chapter (name → paragraph); those in `locked` are said to be encrypted."""
    names = {name: f"chapter{number}.xhtml" for number, name in enumerate(chapters)}
    items = "".join(
        f'<item id="c{place}" href="{file}"/>' for place, file in enumerate(names.values())
    )
    spine = "".join(f'<itemref idref="c{place}"/>' for place in range(len(names)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Tempo'
        f"</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    references = "".join(f'<CipherReference URI="OEBPS/{names[name]}"/>' for name in locked)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", CONTAINER)
        book.writestr("OEBPS/book.opf", package)
        if locked:
            book.writestr("META-INF/encryption.xml", f"<encryption>{references}</encryption>")
        for name, text in chapters.items():
            page = f"<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>{name}</h1><p>{text}</p></body></html>"
            book.writestr(f"OEBPS/{names[name]}", page)
    return path


def write_docx(path: Path, chapters: Mapping[str, str]) -> Path:
    """Writes a Word document with a heading and a paragraph for each chapter, and a table at its end."""
    import docx

    document = docx.Document()
    document.core_properties.title = "Quay manual"
    for name, text in chapters.items():
        document.add_heading(name, 1)
        document.add_paragraph(text)
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Berth 4", "9 metres"
    document.save(str(path))
    return path
