"""The ledger: what was appended is read back in order of time, by every process; torn lines never happened."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.errors import LedgerError
from memory_assets.schema.announcements import take
from memory_assets.store.ledger import Event, Ledger, Planned
from memory_assets.text.checksums import with_new_checksums

AT = datetime(2026, 8, 3, 9, 0, tzinfo=UTC)


def ledger(root: Path, at: datetime = AT) -> Ledger:
    return Ledger(root, lambda: at)


def test_events_of_several_processes_are_folded_by_time(tmp_path: Path):
    later, earlier = ledger(tmp_path, AT + timedelta(hours=1)), ledger(tmp_path, AT)
    later.append("b", "second", actor="mira")
    earlier.append("a", "first", actor="mira")
    assert [event.target for event in ledger(tmp_path).events()] == ["first", "second"]


def test_a_reader_that_is_open_sees_what_another_process_masks(tmp_path: Path):
    reader, writer = ledger(tmp_path), ledger(tmp_path)
    writer.append("a", "forgotten", actor="mira")
    assert [event.target for event in reader.events()] == ["forgotten"]
    assert writer.overwrite(lambda raw: raw.replace(b"forgotten", b"*********")) == 1
    assert [event.target for event in reader.events()] == ["*********"]
    assert [event.target for event in writer.events()] == ["*********"]


@given(cut=st.integers(2, 160))
def test_a_line_torn_by_a_killed_process_never_happened(
    cut: int, tmp_path_factory: pytest.TempPathFactory
):
    root = tmp_path_factory.mktemp("ledger")
    one = ledger(root)
    one.append("a", "kept", actor="mira")
    one.append("a", "torn", {"text": "naïve } ✗", "is_last": True, "lines": [3, 5]}, actor="mira")
    (path,) = root.iterdir()
    path.write_bytes(path.read_bytes()[:-cut])
    assert [event.target for event in ledger(root).events()] == ["kept"]
    one.append("a", "next", actor="mira")
    assert [event.target for event in ledger(root).events()] == ["kept", "next"]


@pytest.mark.parametrize(
    "line",
    [
        b'{"v":1,}',
        b"[]",
        b"7",
        b'{"v":1}',
        b'{"id":\xff"x"}',
        b'{"v":1,"at":"soon","id":"1"}',
        b'{"v":1,"at":"0001-01-01T00:00:00+14:00","id":"1"}',
        b"\0" * 90,
    ],
)
def test_a_broken_line_is_left_out_named_and_announced_by_every_read(tmp_path: Path, line: bytes):
    ledger(tmp_path).append("a", "x", actor="mira")
    (path,) = tmp_path.glob("*.jsonl")
    written = path.read_bytes()
    path.write_bytes(
        written + line + b"\n" + with_new_checksums(written, written.replace(b'"x"', b'"y"'))
    )
    for kinds in (None, ["a"], ["memory.noted"]):
        take()
        found = ledger(tmp_path)
        assert [event.target for event in found.events(kinds)] == (
            [] if kinds == ["memory.noted"] else ["x", "y"]
        )
        (named,) = found.damaged()
        assert f"{path.name}, line 2: " in named
        assert take() == [
            "Lines of the ledger that cannot be read: 1. They count as not written; `memory doctor` names them."
        ]


def test_a_line_that_was_changed_into_another_valid_one_is_damaged(tmp_path: Path):
    ledger(tmp_path).append("a", "kept", {"confidence": 0.9}, actor="mira")
    (path,) = tmp_path.glob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b"0.9", b"0.8"))
    assert ledger(tmp_path).events() == []
    assert ledger(tmp_path).damaged() == [
        f"{tmp_path.name}/{path.name}, line 1: its bytes do not fit its checksum"
    ]


def test_a_ledger_of_a_newer_release_is_refused(tmp_path: Path):
    (tmp_path / "2026-08-03-1.jsonl").write_text('{"v":2}\n')
    with pytest.raises(LedgerError, match="upgrade memory_assets"):
        ledger(tmp_path).events()


def test_a_planned_event_is_written_once_whoever_plans_it_again(tmp_path: Path):
    planned = [
        Planned("rule-1", "memory.confirmed", "a", {"reason": "same"}),
        Planned("rule-2", "memory.confirmed", "b"),
    ]
    written = ledger(tmp_path).append_once([planned[0]], actor="rules")
    assert written == [Event("rule-1", AT, "rules", "memory.confirmed", "a", {"reason": "same"})]
    again = ledger(tmp_path, AT + timedelta(days=1)).append_once(
        [*planned, planned[1]], actor="rules"
    )
    assert [event.id for event in again] == ["rule-2"]
    assert [(event.id, event.at) for event in ledger(tmp_path).events()] == [
        ("rule-1", AT),
        ("rule-2", AT + timedelta(days=1)),
    ]


def test_what_is_overwritten_is_read_as_it_is_now(tmp_path: Path):
    one = ledger(tmp_path)
    said = one.append("memory.noted", "all", {"text": "Herons nest."}, actor="mira")
    assert one.overwrite(lambda raw: raw.replace(b"Herons nest", b"***********")) == 1
    assert one.damaged() == []
    for reader in (one, ledger(tmp_path)):
        assert [(event.id, event.payload) for event in reader.events()] == [
            (said.id, {"text": "***********."})
        ]


def test_a_planned_event_that_two_machines_wrote_is_there_once(tmp_path: Path):
    once = Planned("used-1", "memory.used", "a", {"memory_ids": ["mem_1"]})
    later = ledger(tmp_path / "two", AT + timedelta(minutes=1)).append_once([once], actor="rules")
    first = ledger(tmp_path / "one").append_once([once], actor="rules")
    for path in (tmp_path / "two").glob("*.jsonl"):
        shutil.copy(path, tmp_path / "one" / path.name)
    assert later and ledger(tmp_path / "one").events() == first
