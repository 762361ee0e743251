"""Taking the spool in: each event once, in the order in which it was sent; what cannot be understood is put aside."""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_assets.stages.deliver import spool
from memory_assets.stages.deliver.events import (
    APPROVED,
    ENDED,
    REJECTED,
    TURN_COMPLETED,
)
from memory_assets.stages.deliver.inbox import (
    LARGEST_LINE,
    PUT_ASIDE,
    SpoolReport,
    SpoolRules,
    ingest_spool,
)
from memory_assets.store.ledger import Ledger
from memory_assets.text.masking.redact import mask_all

NOON = 1_786_363_200.0
NOW = datetime.fromtimestamp(NOON + 60, UTC)
FILE = "2026-08-10.jsonl"
PROPOSALS = {"p-20260803-001": "pending", "p-20260803-002": "promoted"}


def ledger_of(root: Path) -> Ledger:
    return Ledger(root / "ledger", lambda: NOW)


def read(root: Path, ledger: Ledger | None = None, now: datetime = NOW) -> SpoolReport:
    rules = SpoolRules(now, spool.user_id(), PROPOSALS)
    return ingest_spool(root, ledger or ledger_of(root), rules, mask=mask_all, actor="mira")


def send(root: Path, name: str = ENDED, at: float = NOON, **data: Any) -> None:
    spool.append(str(root), name, data or {"sessionId": "s"}, version=1, at=at)


def line(**changes: Any) -> bytes:
    """A line as a sender writes it."""
    sent = {
        "capturedAt": "2026-08-10T12:00:00.000000Z", "id": "18c0ffee18c0ffee-01234567", "name": ENDED, "schemaVersion": 1,
        "uid": spool.user_id(), "data": {"sessionId": "s"},
    }  # fmt: skip
    return json.dumps({**sent, **changes}).encode()


def put(root: Path, *content: bytes) -> None:
    """Writes lines into the spool as anybody might."""
    (root / "spool").mkdir(exist_ok=True)
    with (root / "spool" / FILE).open("ab") as file:
        file.write(b"".join(b"\n" + one + b"\n" for one in content))


def aside(root: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted((root / "spool" / "aside").glob("*"))]


def test_an_event_becomes_a_line_of_the_ledger(tmp_path: Path):
    send(tmp_path, sessionId="s1", harness="codex", reason="logout", userMessageCount=7)
    assert read(tmp_path).events == 1
    (event,) = ledger_of(tmp_path).events()
    assert (event.kind, event.target, event.actor) == ("session.ended", "s1", "mira")
    told = {
        "harness": "codex",
        "reason": "logout",
        "userMessageCount": 7,
        "sent_at": "2026-08-10T12:00:00.000000Z",
    }
    assert event.payload == told


def test_a_process_killed_before_it_noted_how_far_it_read_doubles_nothing(tmp_path: Path):
    send(tmp_path)
    put(tmp_path, b"half an eve")
    read(tmp_path)
    before = ledger_of(tmp_path).events(), aside(tmp_path)
    (tmp_path / "spool" / "read.txt").unlink()
    again = read(tmp_path)
    assert (again.events, again.put_aside) == (0, 0)
    assert (ledger_of(tmp_path).events(), aside(tmp_path)) == before


def test_a_turn_leaves_no_line_in_the_ledger(tmp_path: Path):
    send(tmp_path, TURN_COMPLETED, sessionId="s")
    assert read(tmp_path).lines == 1
    assert ledger_of(tmp_path).events() == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (line()[:60], "half-written"),
        (b"\x00\xff\xfe\x80 garbage", "no JSON"),
        (b"[1, 2]", "no event"),
        (b'{"name": "memory/session.ended"}', "no event"),
        (b"[" * 60_000, "no JSON"),
        (b'{"a":' * 10_000, "half-written"),
        (line(data={"sessionId": "s", "reason": "x" * LARGEST_LINE}), "too large"),
        (line(name="memory/session.exploded"), "an unknown event"),
        (line(uid=424_242), "another user's"),
        (line(schemaVersion=2), "a newer version"),
        (line(id="../../x"), "no usable id"),
        (line(capturedAt="2027-01-01T00:00:00Z"), "dated in the future"),
        (line(capturedAt="yesterday"), "it has no moment"),
        (line(capturedAt=7), "it has no moment"),
        (line(capturedAt="0001-01-01T00:00:00+14:00"), "it has no moment"),
        (line(name=["memory/session.ended"]), "no event"),
        (line(data={"sessionId": "s", "reason": "\ud800"}), "no text that can be written"),
        (line(data={"sessionId": "s", "reason": "x" * 501}), "too long"),
        (line(data={}), "a bad payload: it has no sessionId"),
        (
            line(data={"sessionId": "s", "userMessageCount": "many"}),
            "userMessageCount is no whole number",
        ),
        (line(data={"sessionId": "s", "duration": True}), "duration is no number"),
        (line(data={"sessionId": ["s"]}), "sessionId is no text"),
        (line(data={"sessionId": "rm -rf /; echo"}), "sessionId cannot be such a name"),
        (
            line(name="memory/observations.accumulated", data={"date": "2026-99-99"}),
            "2026-99-99 is no day",
        ),
        (
            line(name=APPROVED, data={"proposalId": "p-20260803-009"}),
            "there is no proposal p-20260803-009",
        ),
        (line(name=APPROVED, data={"proposalId": "p-20260803-002"}), "already promoted"),
    ],
)
def test_a_hostile_line_is_put_aside_with_the_reason_and_blocks_nothing(
    tmp_path: Path, content: bytes, reason: str
):
    put(tmp_path, content)
    send(tmp_path, sessionId="after")
    taken = read(tmp_path)
    assert (taken.events, taken.put_aside) == (1, 1)
    kinds = {event.kind: event for event in ledger_of(tmp_path).events()}
    assert reason in kinds[PUT_ASIDE].payload["reason"]
    assert kinds["session.ended"].target == "after"
    assert aside(tmp_path) == [content + b"\n"]
    assert (tmp_path / "spool" / "aside" / kinds[PUT_ASIDE].payload["file"]).is_file()


def test_a_secret_in_a_hostile_line_is_masked_wherever_it_is_kept(tmp_path: Path):
    key = "sk-ant-api03-" + "Zx9" * 31 + "AA"
    put(
        tmp_path,
        line(name="memory/unheard.of", data={"note": key}),
        line(data={"sessionId": "s", "reason": key}, id="ab" * 8),
    )
    read(tmp_path)
    written = b"".join(
        path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file() and path.suffix != ".jsonl"
    )
    written += b"".join(path.read_bytes() for path in (tmp_path / "ledger").glob("*"))
    assert key.encode() not in written
    assert b"unheard.of" in written


def test_a_last_line_that_is_being_written_waits_and_one_that_stays_torn_is_put_aside(
    tmp_path: Path,
):
    send(tmp_path)
    file = tmp_path / "spool" / FILE
    with file.open("ab") as opened:
        opened.write(b"\n" + line(id="ab" * 8)[:50])
    assert read(tmp_path).put_aside == 0
    old = time.time() - 120
    os.utime(file, (old, old))
    assert read(tmp_path).reasons == ["half-written: its end is missing"]


def test_the_file_of_a_past_day_goes_once_all_of_it_was_taken_in(tmp_path: Path):
    send(tmp_path)
    read(tmp_path)
    assert spool.sizes(str(tmp_path))
    read(tmp_path, now=datetime.fromtimestamp(NOON + 12.5 * 3_600, UTC))
    assert spool.sizes(str(tmp_path)), "a sender may have looked at the clock just before midnight"
    read(tmp_path, now=datetime.fromtimestamp(NOON + 13.5 * 3_600, UTC))
    assert spool.sizes(str(tmp_path)) == {}
    assert (tmp_path / "spool" / "read.txt").read_text() == ""


def test_the_first_of_two_decisions_is_the_first_in_the_ledger(tmp_path: Path):
    send(tmp_path, REJECTED, proposalId="p-20260803-001", reason="only that once")
    send(tmp_path, APPROVED, at=NOON + 1, proposalId="p-20260803-001")
    read(tmp_path)
    assert [event.kind for event in ledger_of(tmp_path).events()] == [
        "proposal.rejected",
        "proposal.approved",
    ]
