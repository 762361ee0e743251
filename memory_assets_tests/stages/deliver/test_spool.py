"""The spool: one line an event, whatever is down; what nobody takes in raises an alarm."""

import json
import os
import threading
from pathlib import Path

import pytest

from memory_assets.stages.deliver import spool
from memory_assets.stages.deliver.events import ENDED, FIELDS, subject_of

NOON = 1_786_363_200.0
"""2026-08-10 12:00 UTC."""


def send(root: Path, session: str = "s", at: float = NOON) -> str:
    return spool.append(str(root), ENDED, {"sessionId": session}, version=1, at=at)


def lines(root: Path) -> list[dict]:
    files = sorted((root / "spool").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_bytes().splitlines() if line]


def test_an_event_is_one_line_of_the_file_of_its_day(tmp_path: Path):
    id = send(tmp_path)
    (line,) = lines(tmp_path)
    assert [file.name for file in (tmp_path / "spool").iterdir()] == ["2026-08-10.jsonl"]
    assert line == {
        "capturedAt": "2026-08-10T12:00:00.000000Z", "id": id, "name": ENDED, "schemaVersion": 1, "uid": spool.user_id(),
        "data": {"sessionId": "s"},
    }  # fmt: skip


def test_many_senders_at_once_lose_nothing(tmp_path: Path):
    threads = [
        threading.Thread(target=lambda n=n: [send(tmp_path, f"{n}-{m}") for m in range(50)])
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {line["data"]["sessionId"] for line in lines(tmp_path)} == {
        f"{n}-{m}" for n in range(8) for m in range(50)
    }


def test_a_line_torn_by_a_full_disk_spoils_only_itself(tmp_path: Path):
    send(tmp_path, "first")
    with (tmp_path / "spool" / "2026-08-10.jsonl").open("ab") as file:
        file.write(b'\n{"capturedAt": "2026-08-10T12:0')
    send(tmp_path, "second")
    whole = (tmp_path / "spool" / "2026-08-10.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["data"]["sessionId"] for line in whole if line.endswith(b"}}")] == [
        "first",
        "second",
    ]


def test_a_full_disk_is_an_error_and_no_wait(tmp_path: Path):
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "2026-08-10.jsonl").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        send(tmp_path)


def test_a_pipe_in_the_place_of_the_file_is_an_error_and_no_wait(tmp_path: Path):
    (tmp_path / "spool").mkdir()
    os.mkfifo(tmp_path / "spool" / "2026-08-10.jsonl")
    with pytest.raises(OSError):
        send(tmp_path)
    assert spool.unread(str(tmp_path)) == {}


def test_a_harness_gone_wild_does_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(spool, "MOST_BYTES", 1_000)
    with pytest.raises(OSError):
        for _ in range(10):
            send(tmp_path)
    assert (tmp_path / "spool" / "2026-08-10.jsonl").stat().st_size <= 1_000


def test_what_was_read_waits_no_more(tmp_path: Path):
    send(tmp_path)
    file = tmp_path / "spool" / "2026-08-10.jsonl"
    assert spool.unread(str(tmp_path)) == {file.name: (0, file.stat().st_size)}
    (tmp_path / "spool" / "read.txt").write_text(f"{file.name} {file.stat().st_size}\n")
    assert spool.unread(str(tmp_path)) == {}
    before = file.stat().st_size
    send(tmp_path)
    assert spool.unread(str(tmp_path)) == {file.name: (before, file.stat().st_size)}


def test_events_that_wait_for_hours_raise_the_alarm(tmp_path: Path):
    send(tmp_path)
    send(tmp_path, at=NOON + 2 * 3_600)
    assert spool.alarm(str(tmp_path), NOON + 3_600) is None
    told = spool.alarm(str(tmp_path), NOON + 3 * 3_600)
    assert told is not None
    assert "since 2026-08-10 12:00 UTC" in told
    assert "memory ingest" in told


@pytest.mark.parametrize("name", FIELDS)
def test_events_are_named_in_the_past_tense_and_are_about_one_thing(name: str):
    assert name.startswith("memory/")
    assert name.rsplit(".", 1)[1].endswith("ed") or name.endswith(".pending")
    assert subject_of(name) is None or subject_of(name) in FIELDS[name]
