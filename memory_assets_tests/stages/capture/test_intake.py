"""Intake archives whole lines once: torn lines wait, growth adds only itself, rewrites and losses lose nothing."""

import gzip
import os
from pathlib import Path

import pytest
import zstandard

from memory_assets.stages.capture.discover import find_transcripts
from memory_assets.stages.capture.intake import changed_files
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.stages.capture.pipeline import capture, intake
from memory_assets_tests.stages.capture.sessions import dialogue, lines, transcript, user


def archived(store: Store, path: Path) -> bytes:
    (source,) = [s for s, ranges in store.archive.sources().items() if ranges[0].path == str(path)]
    ranges = store.archive.sources()[source]
    latest = ranges[-1].generation
    return b"".join(
        store.archive.read(source, latest, r.byte_from, r.byte_to)
        for r in ranges
        if r.generation == latest
    )


def test_a_torn_last_line_waits_until_it_is_whole(store: Store, sources: Path):
    path, whole = transcript(sources, "a"), lines(*dialogue("a", 2))
    path.write_bytes(whole[:-20])
    report = intake(store, sources)
    assert report.waiting == 1
    assert archived(store, path) == whole[: whole.rindex(b"\n", 0, -20) + 1]
    path.write_bytes(whole)
    intake(store, sources)
    assert archived(store, path) == whole


def test_a_whole_last_line_without_its_newline_is_taken_once_the_file_is_quiet(
    store: Store, sources: Path
):
    path, whole = transcript(sources, "a"), lines(*dialogue("a", 2))
    path.write_bytes(whole[:-1])
    hour_ago = store.settings.clock().timestamp() - 3600
    os.utime(path, (hour_ago, hour_ago))
    intake(store, sources)
    assert archived(store, path) == whole[:-1]
    more = lines(*dialogue("a", 1, first=4, minutes=9))
    path.write_bytes(whole + more)
    capture(store, sources)
    assert archived(store, path) == whole + more
    assert store.tables.read("records")["line"].to_list() == list(range(6))


def test_the_records_of_damaged_lines_are_messages_that_lead_to_their_bytes(
    store: Store, sources: Path
):
    """Also if the file ends after the damage, and grows later; a second capture adds nothing."""
    path = transcript(sources, "a")
    whole = [lines(record)[:-1] for record in dialogue("a", 6)]
    damaged = b"\0" * 9 + whole[2] + b"\0" * 9 + whole[3] + whole[4][:99] + whole[5] + b"\n"
    path.write_bytes(b"\n".join(whole[:2]) + damaged + whole[6] + b"\0\0" + whole[7] + b"\0")
    hour_ago = store.settings.clock().timestamp() - 3600
    os.utime(path, (hour_ago, hour_ago))
    capture(store, sources)
    path.write_bytes(path.read_bytes() + b"\n" + b"\n".join(whole[8:]) + b"\n")
    capture(store, sources)
    assert capture(store, sources).new_bytes == 0
    assert archived(store, path) == path.read_bytes()
    (source,) = store.archive.sources()
    rows = store.tables.read("records").sort("line")
    assert rows["line"].to_list() == list(range(rows.height))
    spans = rows.drop_nulls("message_id").select("byte_from", "byte_to").rows()
    stated = [store.archive.read(source, 0, *span).strip() for span in spans]
    assert stated == [*whole[:4], *whole[5:]]


def test_a_line_longer_than_a_chunk_is_one_record_and_one_too_long_for_memory_costs_only_itself(
    store: Store, sources: Path, monkeypatch: pytest.MonkeyPatch
):
    for name, size in (("CHUNK_BYTES", 1000), ("LONGEST_LINE", 12_000)):
        monkeypatch.setattr(f"memory_assets.stages.capture.discover.{name}", size)
    path = transcript(sources, "a")
    long = user("a", 9, "x" * 10_000, 0)
    path.write_bytes(b"\0" * 30_000 + b"\n" + lines(long, *dialogue("a", 2)))
    capture(store, sources)
    assert archived(store, path) == path.read_bytes()
    assert store.tables.read("records")["message_id"].drop_nulls().len() == 5


def test_a_rewritten_file_is_a_new_generation_and_its_messages_keep_their_ids(
    store: Store, sources: Path
):
    path = transcript(sources, "a")
    path.write_bytes(lines(*dialogue("a", 6)))
    capture(store, sources)
    before = store.tables.read("messages")["message_id"].to_list()
    path.write_bytes(lines(*dialogue("a", 6)[2:], *dialogue("a", 1, first=12, minutes=7)))
    assert capture(store, sources).rewritten == 1
    after = store.tables.read("messages")["message_id"].to_list()
    assert set(before) < set(after)
    assert len(after) == len(set(after)) == 14


def test_deleting_the_transcript_loses_nothing(store: Store, sources: Path):
    path = transcript(sources, "a")
    path.write_bytes(lines(*dialogue("a", 6)))
    capture(store, sources)
    before = store.tables.read("messages")
    path.unlink()
    capture(store, sources)
    assert store.tables.read("messages").equals(before)


def test_a_transcript_that_is_compressed_or_moved_stays_the_same_source(
    store: Store, sources: Path
):
    folder = sources / "sessions" / "2026" / "08" / "03"
    folder.mkdir(parents=True)
    plain = folder / "rollout-2026-08-03T09-00-00-019c0000-0000-7000-8000-00000000000a.jsonl"
    payload = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "hello"}],
    }
    line = lines(
        {"timestamp": "2026-08-03T09:00:00.000Z", "type": "response_item", "payload": payload}
    )
    plain.write_bytes(line)
    intake(store, sources)
    archive = sources / "archived_sessions" / f"{plain.name}.zst"
    archive.parent.mkdir()
    archive.write_bytes(zstandard.ZstdCompressor().compress(line * 2))
    plain.unlink()
    report = intake(store, sources)
    assert (report.new_bytes, report.rewritten) == (len(line), 0)
    assert len(store.archive.sources()) == 1


def test_one_unreadable_file_is_reported_and_stops_no_other(store: Store, sources: Path):
    transcript(sources, "good").write_bytes(lines(*dialogue("good", 1)))
    torn = gzip.compress(lines(*dialogue("torn", 400)))
    transcript(sources, "torn").with_suffix(".jsonl.gz").write_bytes(torn[: len(torn) // 2])
    report = intake(store, sources)
    assert report.new_ranges == 1
    assert [Path(path).suffix for path, _ in report.unreadable] == [".gz"]
    assert intake(store, sources).unreadable, "an unreadable file is looked at again"


def test_secrets_are_masked_before_the_first_write_with_offsets_kept(store: Store, sources: Path):
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    path = transcript(sources, "a")
    path.write_bytes(
        lines(
            {
                **dialogue("a", 1)[0],
                "message": {"role": "user", "content": f"the token is {secret} ok"},
            }
        )
    )
    intake(store, sources)
    assert [
        entry.masked_count for ranges in store.archive.sources().values() for entry in ranges
    ] == [1]
    assert len(archived(store, path)) == len(path.read_bytes())
    on_disk = b"".join(p.read_bytes() for p in store.root.rglob("*") if p.is_file())
    assert secret.encode() not in on_disk
    assert secret.encode() not in archived(store, path)


def test_a_range_left_by_a_killed_process_is_written_once(
    store: Store, sources: Path, monkeypatch: pytest.MonkeyPatch
):
    path = transcript(sources, "a")
    path.write_bytes(lines(*dialogue("a", 2)))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("memory_assets.store.archive.files.append_line", killed)
        with pytest.raises(KeyboardInterrupt):
            intake(store, sources)
    assert store.archive.sources() == {}
    assert intake(store, sources).new_ranges == 1
    assert archived(store, path) == path.read_bytes()


def test_a_torn_catalog_line_costs_only_its_own_range(store: Store, sources: Path):
    transcript(sources, "a").write_bytes(lines(*dialogue("a", 2)))
    intake(store, sources)
    catalog = store.root / "resources" / "catalog.jsonl"
    catalog.write_bytes(catalog.read_bytes()[:-30])
    (store.root / "resources" / "seen.json").unlink()
    fresh = open_store(read_settings())
    assert intake(fresh, sources).new_ranges == 1
    transcript(sources, "b").write_bytes(lines(*dialogue("b", 2)))
    intake(fresh, sources)
    assert len(open_store(read_settings()).archive.sources()) == 2


def test_a_tampered_range_is_found_by_its_hash(store: Store, sources: Path):
    transcript(sources, "a").write_bytes(lines(*dialogue("a", 2)))
    intake(store, sources)
    (resource,) = store.archive.resources()["id"]
    assert store.archive.verify(resource)
    (file,) = (store.root / "resources" / "ranges").rglob("*.zst")
    file.write_bytes(zstandard.ZstdCompressor().compress(b"something else\n"))
    assert not open_store(read_settings()).archive.verify(resource)


def copy_of(sources: Path, session: str) -> Path:
    path = sources / "elsewhere" / "projects" / "-srv-shop" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def test_a_shorter_copy_of_a_session_adds_nothing_however_often_it_is_touched(
    store: Store, sources: Path
):
    whole = lines(*dialogue("a", 6))
    transcript(sources, "a").write_bytes(whole)
    copy_of(sources, "a").write_bytes(whole[:900])
    first = intake(store, sources)
    assert (first.copies, first.new_bytes) == (1, len(whole))
    copy_of(sources, "a").write_bytes(whole[:1200])
    second = intake(store, sources)
    assert (second.copies, second.rewritten, second.new_bytes) == (1, 0, 0)
    assert not changed_files(find_transcripts([sources]), store.archive)


def test_a_copy_that_went_another_way_loses_nothing(store: Store, sources: Path):
    shared = dialogue("a", 5)
    transcript(sources, "a").write_bytes(lines(*shared, *dialogue("a", 4, first=10, minutes=6)))
    copy_of(sources, "a").write_bytes(lines(*shared, *dialogue("a", 1, first=50, minutes=60)))
    capture(store, sources)
    found = store.tables.read("messages").sort("event_at")
    assert found["message_id"].n_unique() == found.height == 10 + 8 + 2
    copy_of(sources, "a").write_bytes(lines(*shared, *dialogue("a", 2, first=50, minutes=60)))
    again = capture(store, sources)
    assert (again.rewritten, store.tables.read("messages").height) == (0, 22)
    assert capture(store, sources).new_bytes == 0
