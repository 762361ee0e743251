"""Every file of a store is opened by what it is, so that nothing in it stays unseen; erasing leaves nothing behind in it."""

import gzip
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
import zstandard

from memory_assets.errors import StoreBusyError
from memory_assets.services.forget.data_locations import data_locations, erase_file, read_texts
from memory_assets.stages.capture.tombstones import Tombstones, make_tombstone, words_of
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store

PHRASE = "herons nest beside the reactor"
TOMBSTONES = Tombstones([make_tombstone(words_of(PHRASE), b"key")], b"key")


def holds(path: Path) -> bool:
    return any(TOMBSTONES.holds(text) for text in read_texts(path))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "history" / "runs.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("PRAGMA journal_mode = WAL")
        opened.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, body TEXT, packed BLOB)")
        rows = [
            ("a", None),
            (f"say: {PHRASE}.", None),
            ("b", zlib.compress(PHRASE.encode())),
            (f"deleted {PHRASE}", None),
        ]
        opened.executemany("INSERT INTO events (body, packed) VALUES (?, ?)", rows)
        opened.commit()
        opened.execute("DELETE FROM events WHERE body LIKE 'deleted%'")
        opened.commit()
    return path


def test_every_kind_of_file_is_read_as_what_it_holds(tmp_path: Path, database: Path):
    pl.DataFrame({"text": ["x", PHRASE], "list": [[], [PHRASE]]}).write_parquet(
        tmp_path / "a.parquet", compression="zstd"
    )
    (tmp_path / "b.zst").write_bytes(zstandard.ZstdCompressor().compress(PHRASE.encode()))
    (tmp_path / "c.gz").write_bytes(gzip.compress(PHRASE.encode()))
    (tmp_path / "d.txt").write_text(PHRASE, encoding="utf-16")
    (tmp_path / "e.bin").write_bytes(zlib.compress(PHRASE.encode()))
    for path in [database, *(path for path in tmp_path.iterdir() if path.is_file())]:
        assert holds(path), path.name
    (tmp_path / "half.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:20])
    (tmp_path / "half.gz").write_bytes((tmp_path / "c.gz").read_bytes()[:-9])
    assert (
        not holds(tmp_path / "half.parquet")
        and not holds(tmp_path / "half.gz")
        and not holds(tmp_path / "gone")
    )


def test_a_database_keeps_its_rows_and_nothing_of_the_words_in_cells_free_pages_or_its_log(
    database: Path,
):
    assert erase_file(database, TOMBSTONES)
    with closing(sqlite3.connect(database)) as opened:
        rows = opened.execute("SELECT body, packed FROM events ORDER BY id").fetchall()
    assert [body for body, _ in rows] == ["a", f"say: {'*' * len(PHRASE)}.", "b"]
    assert zlib.decompress(rows[2][1]) == b"*" * len(PHRASE)
    left = b"".join(path.read_bytes() for path in database.parent.iterdir())
    assert b"herons" not in left and b"deleted" not in left
    assert not erase_file(database, TOMBSTONES)


def test_a_database_that_somebody_is_writing_is_said_to_be_busy(
    database: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("memory_assets.services.forget.data_locations.BUSY_SECONDS", 0.1)
    with closing(sqlite3.connect(database)) as writing:
        writing.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match="Stop the Dagster UI"):
            erase_file(database, TOMBSTONES)


def test_a_text_is_masked_in_place_and_a_compressed_one_removed(tmp_path: Path):
    text, packed = tmp_path / "x.err", tmp_path / "x.gz"
    text.write_text(f"Error: {PHRASE}\n")
    packed.write_bytes(gzip.compress(PHRASE.encode()))
    number = text.stat().st_ino
    assert erase_file(text, TOMBSTONES) and erase_file(packed, TOMBSTONES)
    assert (text.read_text(), text.stat().st_ino, packed.exists()) == (
        f"Error: {'*' * len(PHRASE)}\n",
        number,
        False,
    )
    assert not erase_file(text, TOMBSTONES)


def test_another_store_inside_and_the_settings_are_passed_by():
    store = open_store(read_settings())
    (store.root / "sample").mkdir()
    (store.root / "sample" / "VERSION").write_text("1\n")
    (store.root / "memory.toml").write_text("")
    (store.root / "link").symlink_to(store.root / "VERSION")
    assert {one.path.name for one in data_locations(store)} == {"VERSION", "instance.json"}
