"""Reads Codex' transcripts.

They are `sessions/YYYY/MM/DD/rollout-<time>-<uuid>.jsonl`, or in `archived_sessions/` without
folders of days; both may be compressed (`.zst`). Two logs are mixed in a file. The conversation is
read from `response_item`. `event_msg` repeats it, and is read only for the files that commands read
and that patches changed. A fork repeats its parent's lines after the header, with new times. In a
sub-agent's fork, everything after that copy comes from another agent.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import orjson

from memory_assets.harnesses.asking import ASKING, answers_in
from memory_assets.harnesses.human_words import (
    UserText,
    count_images,
    parse_user_text,
    strip_memories,
)
from memory_assets.harnesses.normal_form import (
    Parsed,
    TranscriptReader,
    as_blocks,
    join_blocks,
    text_or_none,
)
from memory_assets.harnesses.tool_calls import render_call
from memory_assets.text.moments import event_time
from memory_assets.text.patterns import words_beside

KNOWN = words_beside(__file__)
"""Names of records, of their items and of events."""

NEWLY_SPAWNED = "You are the newly spawned agent."
"""Beginning of the result of `spawn_agent` in the sub-agent's copy of the history."""

BEGINNING_GAP = timedelta(milliseconds=250)
"""A longer pause between two lines ends the copy at the beginning of a fork. Copied lines are
written at once (at most 19 ms for 705 records in real files); the first answer takes longer.
"""

_EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)$", re.M)
_OUTPUT_HEADER = re.compile(
    r"\A(?:(?:Command|Chunk ID|Wall time|Process exited with code|Process running with "
    r"session ID|Exit code|"
    r"Original token count|Total output lines|Script \w+)\b[^\n]*\n)+Output:\n+"
)
_WITHOUT_WORDS = re.compile(r"\A\s*(?:</?image\b[^>]*>\s*)?\Z")


class CodexReader(TranscriptReader):
    """Reads one Codex file."""

    def __init__(self, session_id: str, state: Mapping[str, Any] | None = None) -> None:
        initial = {"root": session_id, "header_count": 0, "is_header": True}
        initial |= {"is_subagent": False, "beginning_until": None}
        initial |= {"model": None, "asked": []}
        super().__init__(session_id, {**initial, **(state or {})})

    @staticmethod
    def session_in(record: Mapping[str, Any]) -> str | None:
        """Returns the session that the record names, if it is a header."""
        header = record.get("payload")
        if not isinstance(header, Mapping):
            return None
        return TranscriptReader.session_in({**header, "type": record.get("type")})

    @classmethod
    def seed_of(cls, session_id: str, first_lines: Sequence[bytes]) -> str:
        """Returns the session at the root of the file's forks, which its headers name."""
        reader = cls(session_id)
        for line in first_lines:
            reader.read(line)
        return str(reader.state["root"])

    def parse(self, record: dict[str, Any]) -> Parsed:
        """Returns the record in normal form."""
        record_type = str(record["type"])
        payload = record.get("payload") or {}
        at = event_time(record.get("timestamp"))
        if record_type == "session_meta":
            parsed = self._session_meta(payload, at)
        else:
            self.state["is_header"] = False
            copied_until = self.state["beginning_until"]
            is_copy = False
            if copied_until and at:
                is_copy = at - datetime.fromisoformat(copied_until) < BEGINNING_GAP
            self._begin_copy(at if is_copy else None)
            parsed = self._parse_later(record_type, payload)
        parsed.event_at = at
        return parsed

    def _parse_later(self, record_type: str, payload: dict[str, Any]) -> Parsed:
        if record_type == "response_item":
            parsed = self._item(payload)
            parsed.model = self.state["model"] if parsed.author == "assistant" else None
            is_subagent = self.state["is_subagent"] and not self.state["beginning_until"]
            return parsed.to_subagent() if is_subagent else parsed
        if record_type == "event_msg":
            return _event(payload)
        if record_type == "compacted":
            return _compacted(payload)
        if record_type == "turn_context":
            self.state["model"] = text_or_none(payload.get("model")) or self.state["model"]
        parsed = Parsed.not_a_message(record_type, record_type in KNOWN["records"])
        parsed.cwd = text_or_none(payload.get("cwd"))
        return parsed

    def _session_meta(self, payload: dict[str, Any], at: datetime | None) -> Parsed:
        header_id = text_or_none(payload.get("id"))
        git = payload.get("git") or {}
        parsed = Parsed(
            "session_meta",
            "known",
            native_id=header_id,
            cwd=text_or_none(payload.get("cwd")),
            version=text_or_none(payload.get("cli_version")),
            branch=text_or_none(git.get("branch")),
            repository=repository_name(git.get("repository_url")),
        )
        if self.state["is_header"]:
            if self.state["header_count"] == 0:
                parsed.parent_session_id = self._begin(payload, header_id, at)
            else:
                self.state["root"] = header_id or self.state["root"]
                self._begin_copy(at)
            self.state["header_count"] += 1
        return parsed

    def _begin(
        self, payload: dict[str, Any], header_id: str | None, at: datetime | None
    ) -> str | None:
        """Reads the file's own header.

        Returns the session that this one was forked from or spawned by, or None.
        """
        forked_from = text_or_none(payload.get("forked_from_id"))
        source = payload.get("source")
        subagent = source.get("subagent") if isinstance(source, Mapping) else None
        is_in_subagent_thread = payload.get("thread_source") == "subagent"
        self.state["is_subagent"] = subagent is not None or is_in_subagent_thread
        self.state["root"] = forked_from or header_id or self.state["root"]
        self._begin_copy(at if forked_from else None)
        spawner = text_or_none(payload.get("parent_thread_id")) or _spawner(subagent)
        parent = forked_from or spawner
        return parent if parent != self.session_id else None

    def _begin_copy(self, at: datetime | None) -> None:
        """Stores the time of the latest line copied from the parent; None outside of the copy."""
        self.state["beginning_until"] = at.isoformat() if at else None

    def _item(self, payload: dict[str, Any]) -> Parsed:
        item_type = payload.get("type")
        name = f"response_item/{item_type}"
        if item_type == "message":
            return _message(payload)
        if item_type in KNOWN["calls"]:
            return self._call(name, payload)
        if item_type in KNOWN["outputs"]:
            return self._result(name, payload)
        if item_type == "agent_message":
            text, images = join_blocks(payload.get("content"))
            return Parsed.message(name, "subagent", "text", text, image_count=images)
        return Parsed.not_a_message(name, item_type in KNOWN["items"])

    def _call(self, name: str, payload: dict[str, Any]) -> Parsed:
        tool, arguments = _tool_and_arguments(payload)
        call_id = text_or_none(payload.get("call_id")) or text_or_none(payload.get("id"))
        decoded = _decode(arguments)
        call = self.remember_call(call_id, tool, decoded)
        rendered = render_call(tool, arguments)
        parsed = Parsed(
            name,
            "message",
            author="assistant",
            kind="tool_call",
            text=rendered,
            identity=f"{self.state['root']}|call:{call_id}" if call_id else None,
            content=rendered,
            tool_name=tool,
            call_id=call_id,
            files_read=call.files_read,
            files_modified=call.files_modified,
        )
        self.ask(parsed, (tool, decoded))
        return parsed

    def _result(self, name: str, payload: dict[str, Any]) -> Parsed:
        parsed = self.tool_result(name, payload.get("call_id"), payload.get("output"))
        output = str(parsed.content)
        if parsed.call_id:
            parsed.identity = f"{self.state['root']}|result:{parsed.call_id}"
        text, parsed.is_error = read_output(output)
        parsed.text = strip_memories(text)
        if parsed.tool_name == "spawn_agent" and output.startswith(NEWLY_SPAWNED):
            parsed.author = "injected"
            self._begin_copy(None)
        is_answer = parsed.tool_name in ASKING
        answers = answers_in(_decode(output), self.state["asked"]) if is_answer else ""
        if answers:
            parsed.to_owner(answers)
        return parsed


def read_output(output: str) -> tuple[str, bool]:
    """Returns a command's output without the header that Codex adds, and whether it failed."""
    if output.startswith('{"output":'):
        try:
            inner = orjson.loads(output)
            return str(inner["output"]), (inner.get("metadata") or {}).get("exit_code", 0) != 0
        except (orjson.JSONDecodeError, AttributeError, KeyError):
            return output, False
    header = _OUTPUT_HEADER.match(output)
    if header is None:
        return output, False
    code = _EXIT_CODE.search(header[0])
    has_failed = "Script failed" in header[0] or (code is not None and code[1] != "0")
    return output[header.end() :], has_failed


def _message(payload: dict[str, Any]) -> Parsed:
    role = payload.get("role")
    blocks = as_blocks(payload["content"])
    name = f"response_item/message/{role}"
    content, images = join_blocks(blocks)
    if not content.strip() and not images:
        return Parsed(name, "known")
    author = "assistant" if role == "assistant" else "injected"
    parsed = Parsed.message(name, author, "text", content, image_count=images)
    if role == "user":
        _find_words(parsed, blocks)
    return parsed


def _find_words(parsed: Parsed, blocks: list[dict[str, Any]]) -> None:
    """Makes the message the owner's if a person typed one of its blocks or gave an image."""
    words = _words_in(blocks)
    typed_text = "\n".join(part.text for part in words if part.voice == "person")
    parsed.image_count = max(parsed.image_count, count_images(typed_text))
    if typed_text or (parsed.image_count and not words):
        parsed.author = "owner"
        parsed.is_turn = True
        parsed.text = strip_memories(typed_text) or "[image]"
        parsed.is_user_turn = not words or any(part.is_turn for part in words)
    elif any(part.voice == "summary" for part in words):
        parsed.kind = "summary"


def _words_in(blocks: list[dict[str, Any]]) -> list[UserText]:
    texts = [block["text"] for block in blocks if block.get("type") in ("input_text", "text")]
    return [parse_user_text(text) for text in texts if not _WITHOUT_WORDS.match(text)]


def _event(payload: dict[str, Any]) -> Parsed:
    event_type = payload.get("type")
    parsed = Parsed.not_a_message(f"event_msg/{event_type}", event_type in KNOWN["events"])
    if event_type == "exec_command_end":
        commands = payload.get("parsed_cmd") or []
        paths = [command.get("path") for command in commands if command.get("type") == "read"]
        parsed.files_read = tuple(filter(text_or_none, paths))
    elif event_type == "patch_apply_end":
        changes = payload.get("changes") if payload.get("success", True) else None
        parsed.files_modified = tuple(str(path) for path in changes or ())
    elif event_type == "thread_rolled_back":
        turn_count = payload.get("num_turns")
        parsed.undone_turns = turn_count if type(turn_count) is int else 0
    elif event_type == "thread_name_updated":
        parsed.title = text_or_none(payload.get("thread_name"))
    return parsed


def _compacted(payload: dict[str, Any]) -> Parsed:
    """Returns the boundary, as a message if its summary can be read.

    A compaction on the vendor's server encrypts the summary.
    """
    summary = text_or_none(payload.get("message"))
    if summary is None:
        return Parsed("compacted", "known", boundary="compaction")
    return Parsed.message("compacted", "injected", "summary", summary, boundary="compaction")


def _tool_and_arguments(payload: dict[str, Any]) -> tuple[str, Any]:
    """Returns the name of the called tool and its arguments as written."""
    action = payload.get("action") or {}
    if payload["type"] == "web_search_call":
        parts = (action.get(name) for name in ("query", "url", "type"))
        return "web_search", next(filter(None, parts), "")
    if payload["type"] == "local_shell_call":
        return "local_shell", action
    if payload["type"] == "tool_search_call":
        return "tool_search", payload.get("arguments") or ""
    names = filter(None, (payload.get("namespace"), str(payload["name"])))
    return ".".join(names), payload.get("arguments", payload.get("input")) or ""


def _decode(arguments: Any) -> Any:
    """Returns the object of arguments that are JSON, and other arguments as they are."""
    if isinstance(arguments, str) and arguments.startswith("{"):
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(arguments)
    return arguments


def repository_name(url: Any) -> str | None:
    """Returns `owner/name` of a remote's address, or an address of another form as it is."""
    if not isinstance(url, str) or not url:
        return None
    match = re.search(r"[/:]([^/:\s]+/[^/\s]+?)(?:\.git)?/?$", url)
    return match[1] if match and ("://" in url or "@" in url) else url


def _spawner(subagent: Any) -> str | None:
    """Returns the session that spawned a sub-agent, as its header names it."""
    spawn = subagent.get("thread_spawn") if isinstance(subagent, Mapping) else None
    parent = spawn.get("parent_thread_id") if isinstance(spawn, Mapping) else None
    return text_or_none(parent)
