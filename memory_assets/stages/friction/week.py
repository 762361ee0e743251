"""Reads the messages of seven days as turns of people, replies of assistants, and tool calls with
their results.

Takes messages and sessions of the days; returns records in order, each with its session. A session
and the sub-agents that it started are one session here.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, groupby, starmap
from operator import attrgetter
from typing import Any

import orjson
import polars as pl

from memory_assets.harnesses.tool_calls import calls_in, describe_call, shell_command
from memory_assets.schema.protocols import Row
from memory_assets.stages.distill.authorship import typed_sentences

DAYS = 7
CANCELLED = "Cancelled: parallel tool call"
"""In the result of a call that did not run, because one beside it failed."""

_CUT_COMMAND = re.compile(r'"(?:command|cmd)":"((?:[^"\\]|\\.)*)')
_CUT_PATH = re.compile(r'"(?:file_|notebook_)?path":"([^"\\]+)"')
_PATCHED_FILE = re.compile(r"^\*\*\* Update File: (.+)$", re.MULTILINE)
_session_id = attrgetter("session.id")


@dataclass(frozen=True)
class SessionInfo:
    """The project, folder and owner of a session."""

    id: str
    project: str
    folder: str
    person: str


@dataclass(frozen=True)
class FileEdit:
    """One replacement in a file."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class ToolCall:
    """A tool call, with its result if there is one."""

    session: SessionInfo
    place: int
    """Position in the session."""
    message_id: str
    at: datetime
    tool: str
    command: str
    """The command line, if the tool is a shell."""
    edit: FileEdit | None = None
    result_id: str | None = None
    done_at: datetime | None = None
    output: str = ""
    is_failed: bool = False
    folder: str = ""
    """Where the command began, if the call says so."""
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()

    @property
    def message_ids(self) -> tuple[str, ...]:
        """The messages of the call and of its result."""
        return (self.message_id, self.result_id) if self.result_id else (self.message_id,)


@dataclass(frozen=True)
class Utterance:
    """A turn of a person or a reply of an assistant."""

    session: SessionInfo
    place: int
    message_id: str
    at: datetime
    text: str
    is_owner: bool


@dataclass(frozen=True)
class Week:
    """Seven days, ordered by session and, within each, by time."""

    calls: tuple[ToolCall, ...] = ()
    utterances: tuple[Utterance, ...] = ()
    sessions: Mapping[str, SessionInfo] = field(default_factory=dict)

    def calls_by_session(self) -> dict[str, list[ToolCall]]:
        """Returns the calls of each session in order."""
        return {id: list(calls) for id, calls in groupby(self.calls, _session_id)}

    def statements(self) -> Iterator[tuple[Utterance, str]]:
        """Yields the sentences of people that are no questions, each with its turn."""
        for turn in filter(lambda turn: turn.is_owner, self.utterances):
            for sentence in typed_sentences(turn.text):
                if not sentence.endswith("?"):
                    yield turn, sentence

    def utterances_by_session(self) -> dict[str, list[Utterance]]:
        """Returns the turns and replies of each session in order."""
        return {id: list(turns) for id, turns in groupby(self.utterances, _session_id)}


def read_week(messages: pl.DataFrame, sessions: pl.DataFrame) -> Week:
    """Returns the week of these messages; `sessions` are the rows of the same days."""
    columns = ("session_id", "project", "folder", "person")
    rows = sessions.sort("session_id", "day").select(columns).iter_rows()
    infos = {row[0]: SessionInfo(*row) for row in rows if row[0] == main_session(row[0])}
    by_session: dict[str, list[Row]] = defaultdict(list)
    for row in messages.sort("event_at", "window_id", "ordinal").iter_rows(named=True):
        by_session[main_session(row["session_id"])].append(row)
    pairs = [
        (infos.get(id) or SessionInfo(id, "", "", ""), rows)
        for id, rows in sorted(by_session.items())
    ]
    calls = chain.from_iterable(starmap(_calls, pairs))
    return Week(tuple(calls), tuple(chain.from_iterable(starmap(_utterances, pairs))), infos)


def main_session(session_id: str) -> str:
    """Returns the session that a sub-agent worked for; any other session is its own."""
    return session_id.partition("/agent-")[0]


def _utterances(session: SessionInfo, rows: Sequence[Row]) -> Iterator[Utterance]:
    for place, row in enumerate(rows):
        is_owner = row["author"] == "owner" and row["is_user_turn"]
        if row["kind"] == "text" and (is_owner or row["author"] == "assistant"):
            what = (row["message_id"], row["event_at"], row["text"], is_owner)
            yield Utterance(session, place, *what)


def _calls(session: SessionInfo, rows: Sequence[Row]) -> list[ToolCall]:
    """Returns the calls with their results: a result belongs to the first open call of its tool, by
    the same agent.
    """
    calls: list[ToolCall] = []
    waiting: dict[tuple[str, str | None], list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        if row["author"] in ("assistant", "subagent"):
            for tool, given in calls_in(row["text"]):
                waiting[row["session_id"], tool].append(len(calls))
                arguments = _arguments(given)
                command, edit = _command(arguments, given), _edit(arguments)
                what = (row["message_id"], row["event_at"], tool, command, edit)
                effect = describe_call(tool, arguments)
                calls.append(
                    ToolCall(
                        session,
                        place,
                        *what,
                        folder=_folder(arguments),
                        files_read=effect.files_read,
                        files_modified=effect.files_modified,
                    )
                )
        elif row["kind"] == "tool_result" and waiting[row["session_id"], row["tool_name"]]:
            number = waiting[row["session_id"], row["tool_name"]].pop(0)
            result = {"result_id": row["message_id"], "done_at": row["event_at"]}
            is_failed = row["is_error"] and CANCELLED not in row["text"]
            result |= {"output": row["text"], "is_failed": is_failed}
            calls[number] = replace(calls[number], **result)
    return calls


def _arguments(given: str) -> Any:
    """Returns the arguments; of truncated ones the path alone, if they have one."""
    try:
        return orjson.loads(given)
    except orjson.JSONDecodeError:
        path = _CUT_PATH.search(given)
        return {"file_path": path[1]} if path else given


def _command(arguments: Any, given: str) -> str:
    """Returns the command line of a shell call, also of a truncated one."""
    if isinstance(arguments, Mapping):
        return shell_command(arguments)
    match = _CUT_COMMAND.search(given)
    if match:
        try:
            return str(orjson.loads(f'"{match[1]}"'))
        except orjson.JSONDecodeError:
            return ""
    return shell_command(given) if "cmd:" in given else ""


def _folder(arguments: Any) -> str:
    given = arguments if isinstance(arguments, Mapping) else {}
    return str(given.get("workdir") or given.get("cwd") or "")


def _edit(arguments: Any) -> FileEdit | None:
    """Returns the change that a call makes, if it is one change of one file."""
    if isinstance(arguments, Mapping):
        path = arguments.get("file_path") or arguments.get("path")
        several = arguments.get("edits")
        changes = several if isinstance(several, list) else [arguments]
        is_single = len(changes) == 1 and isinstance(changes[0], Mapping)
        if not is_single or not isinstance(path, str):
            return None
        old = changes[0].get("old_string", changes[0].get("oldText"))
        new = changes[0].get("new_string", changes[0].get("newText"))
        is_edit = isinstance(old, str) and isinstance(new, str)
        return FileEdit(path, old, new) if is_edit else None
    paths = _PATCHED_FILE.findall(arguments) if isinstance(arguments, str) else []
    if len(paths) != 1:
        return None
    lines = arguments.partition(paths[0])[2].splitlines()
    old, new = ("\n".join(line[1:] for line in lines if line.startswith(mark)) for mark in "-+")
    return FileEdit(paths[0].strip(), old, new) if old or new else None
