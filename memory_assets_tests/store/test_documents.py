"""Kept texts of documents: written whole, read with their checksums, and a changed byte is found."""

from pathlib import Path

import pytest

from memory_assets.errors import StoreError
from memory_assets.store.documents import Documents, KeptDocument, KeptSection

SECTIONS = [KeptSection("High water", 1, ""), KeptSection("Low water", 2, "Tides")]


def kept(**changes: object) -> KeptDocument:
    plain = {
        "id": "doc_1", "title": "Tides", "kind": "pdf", "source_path": "/tides.pdf", "content_hash": "0", "bytes": 9,
        "tags": ("sea",), "added_at": "2026-10-20T08:00:00+00:00", "reader": "1", "section_count": 2, "masked_count": 0,
    }  # fmt: skip
    return KeptDocument(**plain | changes)  # pyright: ignore[reportArgumentType]


def test_a_document_is_read_as_it_was_written_and_replaced_as_a_whole(tmp_path: Path):
    documents = Documents(tmp_path)
    documents.write(kept(), SECTIONS)
    assert documents.read("doc_1") == (kept(), SECTIONS)
    documents.write(kept(section_count=1), SECTIONS[:1])
    assert documents.read("doc_1") == (kept(section_count=1), SECTIONS[:1])
    assert (documents.folder / "doc_1.jsonl").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "damage", [(b"High", b"Hi8h"), (b"Tides", b"Tidez"), (b'"page": 2', b'"page": 3')]
)
def test_a_changed_byte_is_found(tmp_path: Path, damage: tuple[bytes, bytes]):
    documents = Documents(tmp_path)
    documents.write(kept(), SECTIONS)
    path = documents.folder / "doc_1.jsonl"
    path.write_bytes(path.read_bytes().replace(*damage))
    with pytest.raises(StoreError, match="it is not as it was written. Add the document again"):
        documents.read("doc_1")
    assert list(documents.faults(["doc_1"])) == ["library/documents/doc_1.jsonl"]


def test_a_file_that_was_cut_off_is_found(tmp_path: Path):
    documents = Documents(tmp_path)
    documents.write(kept(), SECTIONS)
    path = documents.folder / "doc_1.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    with pytest.raises(StoreError, match="1 sections are missing"):
        documents.read("doc_1")
    assert documents.is_damaged("doc_1")
