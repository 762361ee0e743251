"""Reads seven days as frictions are looked for in: who said what, and which calls were made with what outcome.

Takes messages and sessions of the days; gives turns of people, replies of assistants and calls, in order, each with its
session. A session and the sub-agents that it started are one session here.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import orjson
import polars as pl

from memory_assets.stages.capture.formats.tool_calls import shell_command

DAYS = 7

_CALL = re.compile(r"\[toolCall ([\w.:-]+)\((.*?)\)\](?=\s*(?:\n\[toolCall |\Z))", re.DOTALL)
_CUT_COMMAND = re.compile(r'"(?:command|cmd)":"((?:[^"\\]|\\.)*)')
_PATCHED_FILE = re.compile(r"^\*\*\* Update File: (.+)$", re.MULTILINE)

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Session:
    """Where a session took place, and whose it is."""

    id: str
    project: str
    folder: str
    person: str


@dataclass(frozen=True)
class Edit:
    """A change of a file: what went, what came."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Call:
    """A call of a tool, with its result where there is one."""

    session: Session
    place: int
    """Its place in the session."""
    message_id: str
    at: datetime
    tool: str
    command: str
    """The command line, where the tool is a shell."""
    query: str = ""
    """What was looked for, where the tool searches the web."""
    edit: Edit | None = None
    result_id: str | None = None
    done_at: datetime | None = None
    output: str = ""
    is_failed: bool = False

    @property
    def message_ids(self) -> tuple[str, ...]:
        """The messages of the call and of its result."""
        return (self.message_id, self.result_id) if self.result_id else (self.message_id,)


@dataclass(frozen=True)
class Said:
    """A turn of a person or a reply of an assistant."""

    session: Session
    place: int
    message_id: str
    at: datetime
    text: str
    is_owner: bool


@dataclass(frozen=True)
class Week:
    """Seven days, in order of sessions and, within each, of what happened."""

    calls: tuple[Call, ...] = ()
    said: tuple[Said, ...] = ()
    sessions: Mapping[str, Session] = field(default_factory=dict)

    def calls_by_session(self) -> dict[str, list[Call]]:
        """Returns the calls of each session in order."""
        return _by_session(self.calls)

    def said_by_session(self) -> dict[str, list[Said]]:
        """Returns the turns and replies of each session in order."""
        return _by_session(self.said)


def read_week(messages: pl.DataFrame, sessions: pl.DataFrame) -> Week:
    """Returns the week of these messages; `sessions` are the rows of the same days."""
    known = _sessions(sessions)
    calls: list[Call] = []
    said: list[Said] = []
    ordered = messages.sort("event_at", "window_id", "ordinal")
    by_session: dict[str, list[Row]] = defaultdict(list)
    for row in ordered.iter_rows(named=True):
        by_session[main_session(row["session_id"])].append(row)
    for id, rows in sorted(by_session.items()):
        session = known.get(id) or Session(id, "", "", "")
        calls += _calls(session, rows)
        said += _said(session, rows)
    return Week(tuple(calls), tuple(said), known)


def main_session(session_id: str) -> str:
    """Returns the session that a sub-agent worked for; any other session is its own."""
    return session_id.partition("/agent-")[0]


def _sessions(sessions: pl.DataFrame) -> dict[str, Session]:
    rows = sessions.sort("session_id", "day").iter_rows(named=True)
    return {
        row["session_id"]: Session(row["session_id"], row["project"], row["folder"], row["person"])
        for row in rows
        if row["session_id"] == main_session(row["session_id"])
    }


def _said(session: Session, rows: Sequence[Row]) -> Iterator[Said]:
    for place, row in enumerate(rows):
        if row["kind"] != "text" or row["author"] not in ("owner", "assistant"):
            continue
        is_owner = row["author"] == "owner" and row["is_user_turn"]
        if is_owner or row["author"] == "assistant":
            yield Said(session, place, row["message_id"], row["event_at"], row["text"], is_owner)


def _calls(session: Session, rows: Sequence[Row]) -> list[Call]:
    """Returns the calls with their results: a result belongs to the first open call of its tool, by the same agent."""
    found: list[Call] = []
    waiting: dict[tuple[str, str | None], list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        if row["author"] in ("assistant", "subagent"):
            for tool, given in _CALL.findall(row["text"]) if "[toolCall " in row["text"] else ():
                waiting[row["session_id"], tool].append(len(found))
                found.append(_call(session, place, row, tool, given))
        elif row["kind"] == "tool_result" and (open_calls := waiting[row["session_id"], row["tool_name"]]):
            number = open_calls.pop(0)
            found[number] = _answered(found[number], row)
    return found


def _call(session: Session, place: int, row: Row, tool: str, given: str) -> Call:
    arguments = _arguments(given)
    command = _command(arguments, given)
    query = arguments.get("query") or arguments.get("url") or "" if isinstance(arguments, Mapping) and not command else ""
    edit = _edit(arguments)
    return Call(session, place, row["message_id"], row["event_at"], tool, command, str(query), edit)


def _answered(call: Call, row: Row) -> Call:
    return replace(call, result_id=row["message_id"], done_at=row["event_at"], output=row["text"], is_failed=row["is_error"])


def _arguments(given: str) -> Any:
    try:
        return orjson.loads(given)
    except orjson.JSONDecodeError:
        return given


def _command(arguments: Any, given: str) -> str:
    """Returns the command line of a shell's call, also of one that was cut."""
    if isinstance(arguments, Mapping):
        return shell_command(arguments)
    if found := _CUT_COMMAND.search(given):
        try:
            return str(orjson.loads(f'"{found[1]}"'))
        except orjson.JSONDecodeError:
            return ""
    return shell_command(given) if "cmd:" in given else ""


def _edit(arguments: Any) -> Edit | None:
    """Returns the change that a call makes, where it is one change of one file."""
    if isinstance(arguments, Mapping):
        path = arguments.get("file_path") or arguments.get("path")
        several = arguments.get("edits")
        changes = several if isinstance(several, list) else [arguments]
        if not isinstance(path, str) or len(changes) != 1 or not isinstance(changes[0], Mapping):
            return None
        old, new = (changes[0].get(a, changes[0].get(b)) for a, b in (("old_string", "oldText"), ("new_string", "newText")))
        return Edit(path, old, new) if isinstance(old, str) and isinstance(new, str) else None
    paths = _PATCHED_FILE.findall(arguments) if isinstance(arguments, str) else []
    if len(paths) != 1:
        return None
    lines = arguments.partition(paths[0])[2].splitlines()
    old, new = ("\n".join(line[1:] for line in lines if line.startswith(mark)) for mark in "-+")
    return Edit(paths[0].strip(), old, new) if old or new else None


def _by_session(things: Sequence[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for thing in things:
        found[thing.session.id].append(thing)
    return dict(found)
