"""Each harness is recognised by any of its records or by its tables, and none is taken for another one."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from memory_assets.harnesses.readers import open_reader
from memory_assets.harnesses.recognisers import recognise
from memory_assets.schema.vocabulary import HARNESS_TITLES
from memory_assets.stages.capture.discover import find_files, harness_of
from memory_assets_tests.harnesses.harness_records import TABLES, WRITTEN
from memory_assets_tests.stages.capture.sessions import lines
from memory_assets_tests.transcripts.reading import HERE, lines_of

READ = {title: name for name, title in HARNESS_TITLES.items()}
RECORDS = [
    pytest.param(title, record, id=f"{title} {n}")
    for title, records in WRITTEN.items()
    for n, record in enumerate(records)
]


@pytest.mark.parametrize(("title", "record"), RECORDS)
def test_each_record_alone_is_recognised_as_its_harness_s(title: str, record: dict):
    recogniser = recognise(record)
    assert recogniser is not None
    assert recogniser.title == title


@pytest.mark.parametrize("title", WRITTEN)
def test_a_file_is_read_or_counted_as_its_harness_s_whatever_its_name(tmp_path: Path, title: str):
    for name in ("0b000001-1111-4222-8333-444455556666.jsonl", "events.jsonl"):
        (tmp_path / name).write_bytes(lines(*WRITTEN[title]))
    found = find_files([tmp_path])
    assert [file.harness for file in found.transcripts] == (
        [READ[title]] * 2 if title in READ else []
    )
    assert found.unread == ({} if title in READ else {title: 2})
    assert found.left_out == []
    assert harness_of(tmp_path / "events.jsonl") == READ.get(title)


@pytest.mark.parametrize("title", TABLES)
@pytest.mark.parametrize("is_open", [True, False])
def test_a_database_is_recognised_by_its_tables_and_left_as_it_is(
    tmp_path: Path, title: str, is_open: bool
):
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        for name in TABLES[title]:
            database.execute(f"CREATE TABLE {name} (id TEXT)")
        if is_open:  # the tables are in the log alone
            assert _counts(tmp_path) == _counts(path) == {title: 1}
    if not is_open:
        before = {file.name: file.read_bytes() for file in tmp_path.glob("*.db*")}
        assert _counts(tmp_path) == _counts(path) == {title: 1}
        assert {file.name: file.read_bytes() for file in tmp_path.glob("*.db*")} == before


def _counts(place: Path) -> dict[str, int]:
    """The number of files of each harness, by its title."""
    found = find_files([place])
    titles = (HARNESS_TITLES[file.harness] for file in found.transcripts)
    return Counter(titles) + Counter(found.unread)


def test_files_whose_names_one_harness_alone_gives_are_counted_as_its(tmp_path: Path):
    for name in ("1772350000/1772350000.messages.json", "task/api_conversation_history.json"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("[]")
    (tmp_path / "i18n").mkdir()
    (tmp_path / "i18n" / "en.messages.json").write_text("{}")
    (tmp_path / "1772350000" / "1772350000.json").write_text("{}")
    for folder in ("agents/main", "network"):
        wire = tmp_path / folder / "wire.jsonl"
        wire.parent.mkdir(parents=True)
        wire.write_bytes(lines({"type": "turn", "message": {"content": "x"}}))
    (tmp_path / "session-2025-09-01T09-00-918f2c88.json").write_text("{}")
    found = find_files([tmp_path])
    counts = {"Cline": 2, "Kimi Code": 1, "Gemini CLI's old format": 1}
    assert (found.unread, found.transcripts) == (counts, [])


FILES = {title: lines(*records).splitlines() for title, records in WRITTEN.items()}
FILES |= {
    f"{HARNESS_TITLES[name]} {path.stem}": lines_of(path)
    for path in sorted(HERE.rglob("*.jsonl"))
    if (name := harness_of(path))
}
"""By the title of its harness and its name, the lines of each hand-written file."""


@pytest.mark.parametrize("name", FILES)
def test_no_other_reader_finds_a_message_in_a_harness_s_file(name: str):
    """A file is read by its own harness's reader alone, and would be empty in any other."""
    for harness, title in HARNESS_TITLES.items():
        if not f"{name} ".startswith(f"{title} "):
            reader = open_reader(harness, "events.jsonl", session_id="s-1")
            assert [p.text for p in map(reader.read, FILES[name]) if p.status == "message"] == []
