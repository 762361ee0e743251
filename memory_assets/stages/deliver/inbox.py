"""Takes the spool in: each line becomes one event of the ledger, or is put aside with the reason, exactly once.

The ledger knows an event by the id that its sender gave it, so a line that is met again (the process was killed before it
noted how far it had read, somebody copied it) adds nothing. A line that cannot be understood is written to a file of
`spool/aside/`, secrets masked, and the ledger says where and why; it stops nothing behind it. Files of past days are deleted
once all of them was taken in.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from memory_assets.stages.deliver import events, spool
from memory_assets.store.ledger import Ledger, Planned
from memory_assets.text.files import write_atomically

ASIDE = "aside"
PUT_ASIDE = "event.put_aside"

LARGEST_LINE = 65_536
"""Bytes; no field of an event holds a text, so a longer line is none of ours."""

TORN_AFTER = timedelta(minutes=1)
"""A line is written in one go: one without its end after a minute will not get it any more."""

KEPT_FOR = timedelta(hours=1)
"""How long the file of a past day is kept after midnight: a sender may have looked at the clock just before."""

AHEAD = timedelta(hours=1)
"""How far a sender's clock may be ahead."""

LEAVES_NOTHING = frozenset({events.TURN_COMPLETED})
"""Events that ask for nothing but to look at the transcripts, as taking anything in does: thousands of them would only make
the ledger long."""

_PATTERNS = {
    "sessionId": re.compile(r"[\w.:/-]{1,200}"),
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "proposalId": re.compile(r"[fp]-\d{8}-\d+"),
    "harness": re.compile(r"[\w-]{1,40}"),
    "trigger": re.compile(r"[\w-]{1,40}"),
}
_ID = re.compile(r"[0-9a-f-]{8,64}")
LONGEST_TEXT = 500
"""Characters of a reason that somebody gives."""

Mask = Callable[[Sequence[bytes]], Sequence[tuple[bytes, int]]]
"""Returns the lines with their secrets masked, and how many there were in each."""


@dataclass(frozen=True)
class Line:
    """A line of the spool as it stands there."""

    file: str
    start: int
    content: bytes
    is_torn: bool = False
    """Its end is missing."""


@dataclass(frozen=True)
class Rules:
    """What a line is judged by."""

    now: datetime
    user_id: int | None
    proposals: Mapping[str, str]
    """The state of every proposal."""


@dataclass
class Taken:
    """What one reading of the spool did."""

    lines: int = 0
    events: int = 0
    """Events that the ledger did not hold before."""
    put_aside: int = 0
    bytes: int = 0
    reasons: list[str] = field(default_factory=list)


def take_in(root: Path, ledger: Ledger, rules: Rules, *, mask: Mask, actor: str) -> Taken:
    """Reads what nobody read yet of the spool into the ledger and returns what was done; the caller holds the store's lock."""
    taken = Taken()
    done = spool.read_to(str(root))
    for name, (start, _) in spool.unread(str(root)).items():
        lines, upto = read_lines(root / spool.FOLDER / name, start, mask)
        judged = [judge(line, rules) for line in lines]
        aside = [one for one in judged if one.kind == PUT_ASIDE]
        for line, one in zip(lines, judged, strict=True):
            if one.kind == PUT_ASIDE:
                write_atomically(root / spool.FOLDER / ASIDE / one.payload["file"], line.content + b"\n")
        noted = ledger.append_once((one for one in judged if f"memory/{one.kind}" not in LEAVES_NOTHING), actor=actor)
        done[name] = upto
        _note_read(root, done)
        taken.lines += len(lines)
        taken.put_aside += sum(event.kind == PUT_ASIDE for event in noted)
        taken.events += sum(event.kind != PUT_ASIDE for event in noted)
        taken.bytes += upto - start
        taken.reasons += [one.payload["reason"] for one in aside]
    _delete_past_days(root, done, rules.now)
    return taken


def read_lines(path: Path, start: int, mask: Mask) -> tuple[list[Line], int]:
    """Returns the masked lines from that byte on, and where the next one begins; one that is still being written waits."""
    with path.open("rb") as file:
        file.seek(start)
        content = file.read()
    written_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    whole = content.rfind(b"\n") + 1
    is_late = datetime.now(UTC) - written_at > TORN_AFTER
    found, at = [], start
    for raw in content[:whole].splitlines(keepends=True):
        if raw.strip():
            found.append(Line(path.name, at, raw.strip()))
        at += len(raw)
    if content[whole:].strip() and is_late:
        found.append(Line(path.name, at, content[whole:].strip(), is_torn=True))
        at += len(content) - whole
    masked = mask([line.content for line in found])
    return [replace(line, content=content) for line, (content, _) in zip(found, masked, strict=True)], at


def judge(line: Line, rules: Rules) -> Planned:
    """Returns the event of the ledger that the line asks for, or the one that tells why it is put aside."""
    sent, reason = _parse(line)
    reason = reason or _problem(sent, rules)
    if reason:
        return _letter(line, sent, reason)
    name, data = sent["name"], {field: value for field, value in sent["data"].items() if field in events.FIELDS[sent["name"]]}
    subject = events.subject_of(name)
    payload = {**{field: value for field, value in data.items() if field != subject}, "sent_at": sent["capturedAt"]}
    if "reason" in payload:
        payload["reason"] = " ".join(payload["reason"].split())
    if name in (events.APPROVED, events.REJECTED):
        payload["surface"] = "event"
    return Planned(f"spool-{sent['id']}", name.removeprefix("memory/"), data[subject] if subject else "all", payload)


def _parse(line: Line) -> tuple[dict[str, Any], str | None]:
    """Returns the object that the line holds, or why it holds none."""
    if len(line.content) > LARGEST_LINE:
        return {}, f"too large: {len(line.content):,} bytes, where an event has at most {LARGEST_LINE:,}"
    try:
        sent = json.loads(line.content)
    except (ValueError, RecursionError):
        is_begun = line.is_torn or line.content.startswith(b"{")
        return {}, "half-written: its end is missing" if is_begun else "no JSON"
    if not isinstance(sent, dict) or not isinstance(sent.get("data"), dict) or not isinstance(sent.get("name"), str):
        return {}, "no event: it has no name or no data"
    return sent, None


def _problem(sent: Mapping[str, Any], rules: Rules) -> str | None:
    """Returns why the event cannot be carried out, if so."""
    version, name = sent.get("schemaVersion"), sent["name"]
    if sent.get("uid") != rules.user_id:
        return f"another user's: sent by user {str(sent.get('uid'))[:20]}, and this memory is user {rules.user_id}'s"
    if not isinstance(version, int) or version > events.SCHEMA_VERSION:
        return f"a newer version than this release knows ({str(version)[:20]}): upgrade memory_assets"
    if name not in events.FIELDS:
        return "an unknown event"
    if not isinstance(sent.get("id"), str) or not _ID.fullmatch(sent["id"]):
        return "no event: it has no usable id"
    moment = moment_of(sent.get("capturedAt"))
    if moment is None or moment > rules.now + AHEAD:
        return "dated in the future" if moment else "no event: it has no moment"
    return _problem_of_data(name, sent["data"], rules)


def _problem_of_data(name: str, data: Mapping[str, Any], rules: Rules) -> str | None:
    fields, subject = events.FIELDS[name], events.subject_of(name)
    if subject and not data.get(subject):
        return f"a bad payload: it has no {subject}"
    for wanted, kind in fields.items():
        value = data.get(wanted)
        if value is None:
            continue
        if not isinstance(value, (int, float) if kind is float else kind) or isinstance(value, bool):
            return f"a bad payload: {wanted} is no {_KINDS[kind]}"
        if isinstance(value, str) and not _is_plain(value):
            return f"a bad payload: {wanted} is too long, or no text that can be written"
        if wanted in _PATTERNS and not _PATTERNS[wanted].fullmatch(value):
            return f"a bad payload: {wanted} cannot be such a name"
    if subject == "date" and _day_of(data[subject]) is None:
        return f"a bad payload: {data[subject]} is no day"
    if subject == "proposalId":
        state = rules.proposals.get(data[subject])
        if state != "pending":
            return f"{data[subject]} is already {state}" if state else f"there is no proposal {data[subject]}"
    return None


def _is_plain(text: str) -> bool:
    """Returns whether the text is short and can be written as UTF-8: JSON may hold halves of characters."""
    return len(text) <= LONGEST_TEXT and text == text.encode("utf-8", "replace").decode()


_KINDS = {str: "text", int: "whole number", float: "number"}


def moment_of(stamp: Any) -> datetime | None:
    """Returns the moment that a sender wrote, in UTC; None where it is none."""
    try:
        moment = datetime.fromisoformat(stamp)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (TypeError, ValueError, OverflowError):
        return None


def _day_of(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _letter(line: Line, sent: Mapping[str, Any], reason: str) -> Planned:
    """Returns the event that says where the line was put, and why; of its words only the name of a known event is told."""
    name = sent.get("name", "")
    payload = {
        "reason": reason,
        "name": name if name in events.FIELDS else "",
        "bytes": len(line.content),
        "file": _aside_name(line),
        "spooled_in": line.file,
        "start": line.start,
    }
    digest = hashlib.sha256(f"{line.file}:{line.start}:".encode() + line.content).hexdigest()[:24]
    return Planned(f"aside-{digest}", PUT_ASIDE, digest, payload)


def _aside_name(line: Line) -> str:
    return f"{line.file.removesuffix(spool.SUFFIX)}-{line.start}.txt"


def _note_read(root: Path, done: Mapping[str, int]) -> None:
    content = "".join(f"{name} {size}\n" for name, size in sorted(done.items()))
    write_atomically(root / spool.FOLDER / spool.READ_TO, content.encode())


def _delete_past_days(root: Path, done: dict[str, int], now: datetime) -> None:
    oldest = spool.day_of((now - KEPT_FOR).timestamp())
    past = [name for name, size in spool.sizes(str(root)).items() if name < oldest and done.get(name) == size]
    for name in past:
        (root / spool.FOLDER / name).unlink()
        del done[name]
    if past:
        _note_read(root, done)
