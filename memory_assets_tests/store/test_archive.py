"""The archive keeps what it was given: ranges committed by their catalog line, read back by byte, checked by hash."""

import hashlib
import os
import stat
from datetime import datetime
from pathlib import Path

import pytest
import zstandard

from memory_assets.errors import StoreError, TranscriptError
from memory_assets.store.archive import Archive, Range, range_id
from memory_assets.text import files

WHEN = "2026-08-03T09:00:00+00:00"


def entry(
    content: bytes, *, source: str = "one", byte_from: int = 0, line_from: int = 0, **changes
) -> Range:
    ids = {
        "id": range_id(source, 0, byte_from),
        "source_id": source,
        "generation": 0,
        "conversation_id": source,
    }
    place = {
        "harness": "claude_code",
        "path": f"/t/{source}.jsonl",
        "byte_from": byte_from,
        "line_from": line_from,
    }
    ends = {"byte_to": byte_from + len(content), "line_to": line_from + content.count(b"\n")}
    bytes_ = {
        "sha256": hashlib.sha256(content).hexdigest(),
        "raw_hmac": "",
        "masked_count": 0,
        "masking_version": "1",
    }
    times = {"content_at": None, "content_until": None, "created_at": WHEN}
    return Range(**ids | place | ends | bytes_ | times | changes)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    archive = Archive(tmp_path / "resources")
    archive.append(entry(b"a\nbb\n"), b"a\nbb\n")
    archive.append(entry(b"ccc\n", byte_from=5, line_from=2), b"ccc\n")
    return archive


def test_an_open_reader_sees_what_another_process_masks(archive: Archive):
    reader, at = Archive(archive.root), datetime.fromisoformat(WHEN)
    for letter in (b"*", b"#"):  # the second time, the catalog keeps its size
        before = reader.read("one", 0, 0, 9)
        archive.restate(
            range_id("one", 0, 5), letter * 3 + b"\n", at=at, because="words in it are forgotten"
        )
        assert reader.read("one", 0, 0, 9) == b"a\nbb\n" + letter * 3 + b"\n" != before
        assert reader.verify(range_id("one", 0, 5))


def test_bytes_that_were_never_captured_are_an_error_that_says_where(archive: Archive):
    with pytest.raises(TranscriptError, match=r"Bytes 5 to 20 of source one .* not in the archive"):
        archive.read("one", 0, 5, 20)


def test_only_the_owner_may_read_the_archive(archive: Archive):
    for path in [archive.root, *archive.root.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_range_whose_bytes_changed_is_found_at_once(archive: Archive):
    resource = range_id("one", 0, 0)
    archive.read("one", 0, 0, 5)
    assert archive.verify(resource)
    (archive.root / "ranges" / "one" / "000-000000000000.zst").write_bytes(
        zstandard.compress(b"x\nyy\n")
    )
    assert not archive.verify(resource)


def test_a_range_whose_file_is_gone_does_not_verify(archive: Archive):
    (archive.root / "ranges" / "one" / "000-000000000005.zst").unlink()
    assert not archive.verify(range_id("one", 0, 5))
    assert not archive.verify("no such range")


def test_a_catalog_of_a_newer_release_is_refused(archive: Archive):
    catalog = archive.root / "catalog.jsonl"
    catalog.write_bytes(catalog.read_bytes().replace(b'"v":3', b'"v":9'))
    with pytest.raises(StoreError, match="newer release"):
        Archive(archive.root).sources()


def test_a_line_that_the_disk_took_only_in_part_is_an_error(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
):
    """Else the range would be missing from the catalog, and the ones after it would hide that."""
    with monkeypatch.context() as patched:
        write = os.write
        patched.setattr(files.os, "write", lambda descriptor, line: write(descriptor, line[:10]))
        with pytest.raises(StoreError, match="Free space"):
            archive.append(entry(b"d\n", byte_from=9, line_from=3), b"d\n")
    archive.append(entry(b"d\n", byte_from=9, line_from=3), b"d\n")
    assert Archive(archive.root).sources() == archive.sources()


def test_what_files_looked_like_can_be_lost_without_harm(archive: Archive):
    archive.remember_seen({"/t/one.jsonl": [1, 2, 3]})
    (archive.root / "seen.json").write_bytes(b'{"/t/one')
    assert archive.seen() == {}


def test_a_range_is_restated_with_a_reason_and_every_offset_stays(archive: Archive):
    first, second = archive.ranges("one")
    archive.restate(first.id, b"a\n**\n", at=datetime.fromisoformat(WHEN), because="forgotten")
    for reader in (archive, Archive(archive.root)):
        assert reader.read("one", 0, 0, 9) == b"a\n**\nccc\n"
        assert [reader.verify(one.id) for one in reader.ranges("one")] == [True, True]
        ranges = [(one.restated_because, one.restated_at) for one in reader.ranges("one")]
        assert ranges == [("forgotten", datetime.fromisoformat(WHEN)), (None, None)]
    with pytest.raises(StoreError, match="has 4 bytes, not 1"):
        archive.restate(second.id, b"x", at=datetime.fromisoformat(WHEN), because="forgotten")


def test_a_killed_restating_shows_as_a_changed_range_and_is_made_again(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
):
    first, _ = archive.ranges("one")
    write = files.write_atomically

    def killed_at_the_range(path: Path, content: bytes) -> None:
        if path.suffix == ".zst":
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr("memory_assets.store.archive.files.write_atomically", killed_at_the_range)
    with pytest.raises(KeyboardInterrupt):
        archive.restate(first.id, b"a\n**\n", at=datetime.fromisoformat(WHEN), because="forgotten")
    monkeypatch.undo()
    again = Archive(archive.root)
    assert not again.verify(first.id)
    again.restate(first.id, b"a\n**\n", at=datetime.fromisoformat(WHEN), because="forgotten")
    assert again.verify(first.id)
