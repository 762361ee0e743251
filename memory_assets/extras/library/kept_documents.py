"""Keeps the texts of documents, in one file of JSON lines each.

    library/documents/doc_0f3a5c1e9b2d.jsonl    the document, then one line for each page or
                                                section; each with a checksum

The file that somebody added is not kept, because secrets and forgotten words cannot be masked in a
PDF. A text is written as a whole, with its secrets masked. Backups contain these files, and
forgetting masks words in them.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from memory_assets.errors import StoreError
from memory_assets.extras.library.contents import DocumentSection
from memory_assets.stages.maintain.checks import Check, is_in_share, outcome
from memory_assets.store.store import Store
from memory_assets.text.checksums import is_intact, with_checksum
from memory_assets.text.files import Stamp, bytes_of, stamp_of, write_atomically
from memory_assets.text.masking.records import mask_record

FOLDER = "library"
"""Name of the library's folder in the data folder."""

SUFFIX = ".jsonl"
REMEDY = "Add the file again with `memory library add`, or restore its text from a backup."


@dataclass(frozen=True)
class KeptDocument:
    """A document of the library: where it comes from, and how much of it is kept."""

    id: str
    """`doc_` and a hash of the path or address."""
    title: str
    kind: str
    """pdf, epub, html, markdown, docx or text; page or repository."""
    source_path: str
    """The file that was added, or the address; the file may have been moved or deleted since."""
    content_hash: str
    """SHA-256 of what was read; a source with the same hash is not added again."""
    bytes: int
    tags: tuple[str, ...]
    added_at: str
    reader: str
    """Version of the rules by which it was read."""
    section_count: int
    masked_count: int
    """Secrets that were masked."""
    note: str = ""
    """What is recalled of a page or a repository; empty for a file."""
    relevance: Mapping[str, float] = field(default_factory=dict)
    """Relevant project → mean cosine of the note and the project's nearest texts."""
    feed_id: str = ""
    """The feed that it is an item of; empty for others."""

    @property
    def at(self) -> datetime:
        """When it was added."""
        return datetime.fromisoformat(self.added_at)


class Documents:
    """The kept texts of a store."""

    def __init__(self, root: Path) -> None:
        self.folder = root / FOLDER / "documents"

    def write(self, document: KeptDocument, sections: Sequence[DocumentSection]) -> KeptDocument:
        """Replaces the text of the document and returns it as written."""
        records = mask_record([asdict(document), *map(asdict, sections)])
        write_atomically(self._path(document.id), b"\n".join(map(_line_of, records)) + b"\n")
        return KeptDocument(**records[0])

    def remove(self, document_id: str) -> None:
        """Deletes the text of the document."""
        self._path(document_id).unlink(missing_ok=True)

    def ids(self) -> list[str]:
        """Returns the ids of all documents, sorted."""
        return sorted(path.stem for path in self.folder.glob(f"doc_*{SUFFIX}"))

    def stamps(self) -> dict[str, Stamp]:
        """Returns size and time of each kept file, by id."""
        stamps = {id: stamp_of(self._path(id)) for id in self.ids()}
        return {id: stamp for id, stamp in stamps.items() if stamp is not None}

    def all(self) -> list[KeptDocument]:
        """Returns the documents, the latest first; one with a damaged first line is left out."""
        documents = filter(None, map(self.find, self.ids()))
        return sorted(documents, key=lambda item: (item.added_at, item.id), reverse=True)

    def find(self, document_id: str) -> KeptDocument | None:
        """Returns the document; None where there is none, or where its first line is damaged."""
        try:
            with self._path(document_id).open("rb") as file:
                return _parse_document(file.readline().rstrip(b"\n"))
        except (FileNotFoundError, ValueError):
            return None

    def read(self, document_id: str) -> tuple[KeptDocument, list[DocumentSection]] | None:
        """Returns the document and its sections; None where there is none.

        Raises `StoreError` for a damaged file.
        """
        content = bytes_of(self._path(document_id))
        if content is None:
            return None
        try:
            first, *section_lines = content.split(b"\n")[:-1]
            document = _parse_document(first)
            sections = [DocumentSection(**_parse(line)) for line in section_lines]
        except (ValueError, TypeError, KeyError) as error:
            raise self._damage(document_id, "it is not as it was written") from error
        missing = document.section_count - len(sections)
        if missing:
            raise self._damage(document_id, f"{missing} sections are missing")
        return document, sections

    def faults(self, document_ids: Sequence[str]) -> Iterator[str]:
        """Yields the paths of the files that are not as they were written."""
        for id in document_ids:
            try:
                self.read(id)
            except StoreError:
                yield f"{FOLDER}/documents/{id}{SUFFIX}"

    def is_damaged(self, document_id: str) -> bool:
        """Returns whether the kept file of the document is not as it was written."""
        return any(self.faults([document_id]))

    def _path(self, document_id: str) -> Path:
        return self.folder / f"{document_id}{SUFFIX}"

    def _damage(self, document_id: str, why: str) -> StoreError:
        return StoreError(
            f"Cannot read {self._path(document_id)}: {why}. Add the document again with `memory "
            "library add`, restore the file from a backup, or remove it with `memory library "
            f"remove {document_id}`."
        )


def documents_of(store: Store) -> Documents:
    """Returns the kept texts of the store."""
    return Documents(store.permanent)


def document_ids(store: Store) -> list[str]:
    """Returns the ids of all documents, sorted."""
    return documents_of(store).ids()


def new_id(prefix: str, source: bytes) -> str:
    """Returns the id of the document or feed at the path or address."""
    return f"{prefix}_{hashlib.sha256(source).hexdigest()[:12]}"


def deep_check(store: Store, night: date | None) -> Check:
    """Returns the check of all kept texts; with a night, of the share that it checks."""
    documents = documents_of(store)
    ids = [id for id in documents.ids() if is_in_share(id, night)]
    promise = "every kept text of a document is as it was written"
    size = f"{len(ids):,} documents"
    return outcome("documents", promise, [*documents.faults(ids)], size, REMEDY)


def _line_of(record: dict[str, Any]) -> bytes:
    return with_checksum(json.dumps(record, ensure_ascii=False).encode())


def _parse(line: bytes) -> dict[str, Any]:
    """Returns the record on the line, no checksum; raises `ValueError` if a byte changed."""
    if not is_intact(line):
        raise ValueError("its checksum differs")
    record = json.loads(line)
    record.pop("crc")
    return record


def _parse_document(line: bytes) -> KeptDocument:
    record = _parse(line)
    try:
        return KeptDocument(**{**record, "tags": tuple(record["tags"])})
    except (TypeError, KeyError) as error:
        raise ValueError(str(error)) from error
