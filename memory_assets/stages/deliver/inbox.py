"""Ingests the spool: each line becomes one event of the ledger, exactly once.

A line that is not a valid event is put aside: it is written to a file in `spool/aside/`, and its
event records where and why. The lines after it are still read. The ledger identifies events by the
ids that their senders gave, so a line that is read twice, because a process was killed or the line
was copied, adds one event. Secrets are masked in the spool file as well. Files of past days are
deleted when they have been read to the end.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from memory_assets.stages.deliver import events, spool
from memory_assets.store.ledger import Ledger, Planned
from memory_assets.text.files import overwrite_records, write_atomically
from memory_assets.text.moments import event_time

ASIDE = "aside"
PUT_ASIDE = "event.put_aside"

LARGEST_LINE = 65_536
"""Most bytes of a line: no field of an event has a long text, so a longer line is not an event."""

TORN_AFTER = timedelta(minutes=1)
"""Age after which an incomplete line counts as torn, because senders write a line at once."""

GRACE_PERIOD = timedelta(hours=1)
"""Time after midnight before a day's file is deleted: a sender may have read the clock before
midnight and write after it.
"""

AHEAD = timedelta(hours=1)
"""How far a sender's clock may be ahead of ours."""

NOT_RECORDED = frozenset({events.TURN_COMPLETED})
"""Events that the ledger does not record: they only ask for an ingest, and there are thousands."""

_PATTERNS = {
    "sessionId": re.compile(r"[\w.:/-]{1,200}"),
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "proposalId": re.compile(r"[fp]-\d{8}-\d+"),
    "harness": re.compile(r"[\w-]{1,40}"),
    "trigger": re.compile(r"[\w-]{1,40}"),
}
_ID = re.compile(r"[0-9a-f-]{8,64}")
LONGEST_TEXT = 500
"""Most characters of a text in an event."""

Mask = Callable[[Sequence[bytes]], Sequence[tuple[bytes, int]]]
"""Returns each line with its secrets masked, and the number of its secrets."""


@dataclass(frozen=True)
class SpoolLine:
    """A line of the spool."""

    file: str
    start: int
    content: bytes
    is_torn: bool = False
    """Whether its end is missing."""


@dataclass(frozen=True)
class SpoolRules:
    """What the lines of the spool are checked against."""

    now: datetime
    user_id: int | None
    """The owner of the store; events of other users of the machine are put aside."""
    proposals: Mapping[str, str]
    """The state of every proposal, by its id."""


@dataclass
class SpoolReport:
    """The result of reading the spool once."""

    lines: int = 0
    events: int = 0
    """Events that are new to the ledger."""
    put_aside: int = 0
    bytes: int = 0
    reasons: list[str] = field(default_factory=list)


def ingest_spool(
    root: Path, ledger: Ledger, rules: SpoolRules, *, mask: Mask, actor: str
) -> SpoolReport:
    """Reads the new lines of the spool into the ledger and returns a report.

    The caller must hold the store's lock.
    """
    report = SpoolReport()
    positions = spool.read_positions(str(root))
    for name, (start, _) in spool.unread(str(root)).items():
        lines, positions[name] = read_lines(root / spool.FOLDER / name, start, mask)
        planned = [event_of(line, rules) for line in lines]
        for line, event in zip(lines, planned, strict=True):
            if event.kind == PUT_ASIDE:
                path = root / spool.FOLDER / ASIDE / event.payload["file"]
                write_atomically(path, line.content + b"\n")
                report.reasons.append(event.payload["reason"])
        recorded = (event for event in planned if f"memory/{event.kind}" not in NOT_RECORDED)
        added = ledger.append_once(recorded, actor=actor)
        _record_positions(root, positions)
        report.lines += len(lines)
        report.put_aside += sum(event.kind == PUT_ASIDE for event in added)
        report.events += sum(event.kind != PUT_ASIDE for event in added)
        report.bytes += positions[name] - start
    _delete_past_days(root, positions, rules.now)
    return report


def read_lines(path: Path, start: int, mask: Mask) -> tuple[list[SpoolLine], int]:
    """Returns the masked lines from the byte `start` on, and where the next line begins.

    A last line that may still be written is not returned.
    """
    with path.open("rb") as file:
        file.seek(start)
        content = file.read()
    written_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    end = content.rfind(b"\n") + 1
    last_line = content[end:]
    is_quiet = datetime.now(UTC) - written_at > TORN_AFTER
    raw_lines = list[SpoolLine]()
    position = start
    for raw in content[:end].splitlines(keepends=True):
        if raw.strip():
            raw_lines.append(SpoolLine(path.name, position, raw.strip()))
        position += len(raw)
    if last_line.strip() and is_quiet:
        raw_lines.append(SpoolLine(path.name, position, last_line.strip(), is_torn=True))
        position += len(last_line)
    masked = [text for text, _ in mask([line.content for line in raw_lines])]
    lines = [replace(line, content=text) for line, text in zip(raw_lines, masked, strict=True)]
    if lines != raw_lines:
        overwrite_records(path, partial(_with_masks, lines=raw_lines, masked=masked))
    return lines, position


def _with_masks(content: bytes, lines: Sequence[SpoolLine], masked: Sequence[bytes]) -> bytes:
    """Returns the content of the file with each line masked; masking does not change lengths."""
    masked_content = bytearray(content)
    for line, text in zip(lines, masked, strict=True):
        start = content.index(line.content, line.start)
        masked_content[start : start + len(text)] = text
    return bytes(masked_content)


def event_of(line: SpoolLine, rules: SpoolRules) -> Planned:
    """Returns the ledger event for the line: its own, or one that records why it is put aside."""
    sent, reason = _parse(line)
    reason = reason or _problem(sent, rules)
    if reason:
        return _put_aside(line, sent, reason)
    name = sent["name"]
    fields = events.FIELDS[name]
    payload = {field: value for field, value in sent["data"].items() if field in fields}
    subject = events.subject_of(name)
    target = payload.pop(subject) if subject else "all"
    payload["sent_at"] = sent["capturedAt"]
    if "reason" in payload:
        payload["reason"] = " ".join(payload["reason"].split())
    if name in (events.APPROVED, events.REJECTED):
        payload["surface"] = "event"
    return Planned(f"spool-{sent['id']}", name.removeprefix("memory/"), target, payload)


def _parse(line: SpoolLine) -> tuple[dict[str, Any], str | None]:
    """Returns the event in the line, or an empty one and the reason why there is none."""
    size = len(line.content)
    if size > LARGEST_LINE:
        return {}, f"too large: {size:,} bytes, where an event has at most {LARGEST_LINE:,}"
    try:
        sent = json.loads(line.content)
    except (ValueError, RecursionError):
        is_half = line.is_torn or line.content.startswith(b"{")
        return {}, "half-written: its end is missing" if is_half else "no JSON"
    is_object = isinstance(sent, dict) and isinstance(sent.get("data"), dict)
    if not is_object or not isinstance(sent.get("name"), str):
        return {}, "no event: it has no name or no data"
    return sent, None


def _problem(sent: Mapping[str, Any], rules: SpoolRules) -> str | None:
    """Returns why the event is not valid; None if it is."""
    name = sent["name"]
    if sent.get("uid") != rules.user_id:
        sender = str(sent.get("uid"))[:20]
        return f"another user's: sent by user {sender}, and this memory is user {rules.user_id}'s"
    version = sent.get("schemaVersion")
    if not isinstance(version, int) or version > events.SCHEMA_VERSION:
        newer = str(version)[:20]
        return f"a newer version than this release knows ({newer}): upgrade memory_assets"
    if name not in events.FIELDS:
        return "an unknown event"
    if not isinstance(sent.get("id"), str) or not _ID.fullmatch(sent["id"]):
        return "no event: it has no usable id"
    stamp = sent.get("capturedAt")
    moment = event_time(stamp) if isinstance(stamp, str) else None
    if moment is None or moment > rules.now + AHEAD:
        return "dated in the future" if moment else "no event: it has no moment"
    return _problem_of_data(name, sent["data"], rules)


def _problem_of_data(name: str, data: Mapping[str, Any], rules: SpoolRules) -> str | None:
    subject = events.subject_of(name)
    if subject and not data.get(subject):
        return f"a bad payload: it has no {subject}"
    for field_name, kind in events.FIELDS[name].items():
        fault = _fault_of(field_name, kind, data.get(field_name))
        if fault:
            return f"a bad payload: {field_name} {fault}"
    if subject == "date" and event_time(data[subject]) is None:
        return f"a bad payload: {data[subject]} is no day"
    if subject == "proposalId":
        return _problem_of_proposal(data[subject], rules)
    return None


def _fault_of(field_name: str, kind: type, value: Any) -> str | None:
    """Returns what is wrong with the value of a field; None if the value is valid."""
    if value is None:
        return None
    kinds = (int, float) if kind is float else kind
    if isinstance(value, bool) or not isinstance(value, kinds):
        return f"is no {_KINDS[kind]}"
    if isinstance(value, str):
        # JSON may have halves of surrogate pairs, which UTF-8 cannot encode.
        is_writable = value == value.encode("utf-8", "replace").decode()
        if len(value) > LONGEST_TEXT or not is_writable:
            return "is too long, or no text that can be written"
    pattern = _PATTERNS.get(field_name)
    if pattern and not pattern.fullmatch(value):
        return "cannot be such a name"
    return None


def _problem_of_proposal(proposal_id: str, rules: SpoolRules) -> str | None:
    state = rules.proposals.get(proposal_id)
    if state is None:
        return f"there is no proposal {proposal_id}"
    return None if state == "pending" else f"{proposal_id} is already {state}"


_KINDS = {str: "text", int: "whole number", float: "number"}


def _put_aside(line: SpoolLine, sent: Mapping[str, Any], reason: str) -> Planned:
    """Returns the event that records why and where the line is put aside.

    It has no text of the line, only the name of an event of `FIELDS`.
    """
    name = sent.get("name", "")
    payload = {
        "reason": reason,
        "name": name if name in events.FIELDS else "",
        "bytes": len(line.content),
        "file": f"{line.file.removesuffix(spool.SUFFIX)}-{line.start}.txt",
        "spooled_in": line.file,
        "start": line.start,
    }
    digest = hashlib.sha256(f"{line.file}:{line.start}:".encode() + line.content).hexdigest()[:24]
    return Planned(f"aside-{digest}", PUT_ASIDE, digest, payload)


def _record_positions(root: Path, positions: Mapping[str, int]) -> None:
    content = "".join(f"{name} {position}\n" for name, position in sorted(positions.items()))
    write_atomically(root / spool.FOLDER / spool.POSITIONS, content.encode())


def _delete_past_days(root: Path, positions: dict[str, int], now: datetime) -> None:
    """Deletes the files of past days that were read to the end."""
    oldest = spool.day_of((now - GRACE_PERIOD).timestamp())
    sizes = spool.sizes(str(root)).items()
    past = [name for name, size in sizes if name < oldest and positions.get(name) == size]
    for name in past:
        (root / spool.FOLDER / name).unlink()
        del positions[name]
    if past:
        _record_positions(root, positions)
