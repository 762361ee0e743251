"""Reads OpenCode's SQLite database, and returns what its sessions have new as lines of JSON.

The lines are archived like those of a transcript that grows, so that every memory leads to bytes.
Each part of a message is returned once, when it is complete: a tool's part as two lines, its call
and its result. A part of another shape is one line `malformed`, so that it stops nothing else.
Messages that were taken back are named in a line `revert`. Only the tables `session`, `message` and
`part` are read; others hold credentials.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from memory_assets.errors import TranscriptError
from memory_assets.harnesses.declaration import ArchivedLines, open_database
from memory_assets.harnesses.normal_form import load_line
from memory_assets.text.patterns import words_beside

_SESSIONS = """
SELECT id, parent_id, directory, title, version, time_created, time_updated, revert,
(SELECT max(time_updated) FROM part WHERE session_id = session.id) AS part_updated
FROM session ORDER BY id
"""
_PARTS = """
SELECT message.id AS message_id, message.time_created AS created,
CAST(message.data AS TEXT) AS message, part.id, CAST(part.data AS TEXT) AS part, part.time_updated
FROM message JOIN part ON part.message_id = message.id
WHERE message.session_id = ? ORDER BY message.id, part.id
"""
_LEFT_OUT = words_beside(str(Path(__file__).with_name("reader.py")))["parts"]

_MALFORMED = (AttributeError, KeyError, OverflowError, TypeError, ValueError)

Row = Mapping[str, Any]


def read_new_lines(
    path: Path, archived: Callable[[str], ArchivedLines], is_ignored: Callable[[str], bool]
) -> Iterator[tuple[str, bytes]]:
    """Yields the id of each session that changed, with its new lines; the file is not changed.

    Sessions in ignored folders are skipped. Those that cannot be read are named after the others.
    """
    unreadable: list[str] = []
    try:
        with closing(open_database(path)) as database:
            database.row_factory = sqlite3.Row
            database.text_factory = lambda raw: raw.decode(errors="replace")
            database.execute("BEGIN")  # all of it as it is at one moment
            sessions = {row["id"]: dict(row) for row in database.execute(_SESSIONS)}
            for session in sessions.values():
                name = _name_of(session, sessions)
                lines = archived(name)
                try:
                    is_changed = _moment(_changed_ms(session)) > lines.until
                    if not is_changed or is_ignored(session["directory"]):
                        continue
                    parts = [dict(row) for row in database.execute(_PARTS, (session["id"],))]
                    new_lines = b"".join(_lines_of(session, name, parts, lines.read()))
                except _MALFORMED as error:
                    unreadable.append(f"session {name}: {error}")
                    continue
                yield name, new_lines
    except (sqlite3.Error, *_MALFORMED) as error:
        unreadable.append(str(error))
    if unreadable:
        raise TranscriptError(
            f"Cannot read the database {path}: {'; '.join(unreadable)}. It is read again at the "
            "next run."
        )


def _name_of(session: Row, sessions: Mapping[str, Row]) -> str:
    """Returns the session's id; that of a sub-agent begins with the id of the session above it.

    A session above it may be missing from the database, or wrongly name one below it.
    """
    ids = [session["id"]]
    parent = session["parent_id"]
    while parent and parent not in ids:
        ids.append(parent)
        parent = sessions.get(parent, {}).get("parent_id")
    return ids[0] if len(ids) == 1 else f"{ids[-1]}/{ids[0]}"


def _changed_ms(session: Row) -> int:
    return max(session["time_updated"], session["part_updated"] or 0)


def _lines_of(
    session: Row, name: str, parts: Iterable[Row], archived: Sequence[Mapping[str, Any]]
) -> Iterator[bytes]:
    """Yields the lines that the archived ones lack."""
    header = _header(session, name)
    if not archived:
        yield _line(header, session["time_created"])
    standing = _standing(session, parts)
    standing_messages = {part["message_id"] for part in standing}
    known_parts = _parts_in(archived)
    undone = [id for id in dict.fromkeys(known_parts.values()) if id not in standing_messages]
    if undone:
        yield _line({"type": "revert", "messages": undone}, session["time_updated"])
    new_parts = [_loaded(row) for row in standing if row["id"] not in known_parts]
    complete_parts = list(filter(_is_complete, new_parts))
    for row in complete_parts:
        try:
            yield from list(_lines_of_part(row, is_subagent="/" in name))
        except _MALFORMED:
            about = {"id": row["id"], "messageID": row["message_id"], "part": row["text"]}
            yield _line({"type": "malformed", **about}, session["time_updated"])
    if complete_parts == new_parts:
        # Until the last line with the time of the session, the session counts as changed.
        yield _line(header, _changed_ms(session))


def _standing(session: Row, parts: Iterable[Row]) -> list[Row]:
    """Returns the parts of messages that are not taken back."""
    revert = orjson.loads(session["revert"] or "{}")
    first_undone = revert.get("messageID") or "~"  # after every id
    return [part for part in parts if part["message_id"] < first_undone]


def _loaded(row: Row) -> Row:
    """Returns the row with its two objects, which are empty where they are no JSON objects."""
    objects = {name: _object_in(row[name]) for name in ("part", "message")}
    return {**row, "text": row["part"], **objects}


def _object_in(text: str | None) -> dict[str, Any]:
    try:
        value = load_line((text or "").encode())
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _header(session: Row, name: str) -> dict[str, Any]:
    parent = {"parentID": name.partition("/")[0]} if "/" in name else {}
    return {
        "type": "session",
        "sessionID": name,
        **parent,
        "cwd": session["directory"],
        "title": session["title"],
        "version": session["version"],
    }


def _parts_in(archived: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Returns the archived parts that stand after all reverts, each with its message.

    A part that was taken back and stands again is not among them, so that it is archived again.
    """
    message_of: dict[str, str] = {}
    for record in archived:
        if record["type"] == "revert":
            undone = set(record["messages"])
            message_of = {id: name for id, name in message_of.items() if name not in undone}
        elif "messageID" in record and record["type"] != "call":  # its result may be missing
            message_of[record["id"]] = record["messageID"]
    return message_of


def _is_complete(row: Row) -> bool:
    """Returns whether the part will not change any more."""
    part = row["part"]
    message = row["message"]
    try:
        if message.get("role") == "user" or "completed" in (message.get("time") or {}):
            return True
        if part["type"] == "tool":
            return (part.get("state") or {}).get("status") in ("completed", "error")
        return "end" in (part.get("time") or {})
    except _MALFORMED:
        return True


def _lines_of_part(row: Row, *, is_subagent: bool) -> Iterator[bytes]:
    part = row["part"]
    message = row["message"]
    if part["type"] in _LEFT_OUT:
        return
    created = (message.get("time") or {}).get("created") or row["created"]
    about = {
        "id": row["id"],
        "messageID": row["message_id"],
        "created": created,
        "role": message.get("role"),
        "model": message.get("modelID"),
        "isSummary": message.get("summary") is True,
        "isSubagent": is_subagent,
    }
    updated = row["time_updated"]
    state = part.get("state") or {}
    times = part.get("time") or state.get("time") or {}
    at = times.get("start", created)
    if part.get("type") != "tool":
        yield _line({"type": part.get("type"), **about, "at": _iso(at), "part": part}, updated)
        return
    call = {name: part.get(name) for name in ("callID", "tool")}
    result = {name: value for name, value in state.items() if name not in ("input", "metadata")}
    result["exit"] = (state.get("metadata") or {}).get("exit")
    ended = times.get("end", at)
    call_part = {**call, "input": state.get("input")}
    yield _line({"type": "call", **about, "at": _iso(at), "part": call_part}, updated)
    yield _line({"type": "result", **about, "at": _iso(ended), "part": {**call, **result}}, updated)


def _line(record: Mapping[str, Any], updated_ms: int) -> bytes:
    """Returns the record as a line; `timestamp` is when its row changed."""
    return orjson.dumps({**record, "timestamp": _iso(updated_ms)}) + b"\n"


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _iso(milliseconds: int) -> str:
    text = _moment(milliseconds).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
