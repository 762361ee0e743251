"""Reads Codex' transcripts: `sessions/YYYY/MM/DD/rollout-<time>-<uuid>.jsonl`, flat in `archived_sessions/`, or `.zst`.

Two logs interleave in a file. The conversation is read from `response_item`; `event_msg` repeats it and serves only for
the files that commands read and patches changed. A fork repeats its parent's lines after the header, with new times; in
a sub-agent's fork what follows that beginning comes from another agent.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import orjson

from memory_assets.schema.records import Harness
from memory_assets.stages.capture.formats.known_types import CODEX_EVENTS, CODEX_ITEMS, CODEX_RECORDS
from memory_assets.stages.capture.formats.normal_form import LineReader, Parsed, event_time, repository_name, text_of
from memory_assets.stages.capture.formats.tool_calls import look_at_call, render_call
from memory_assets.stages.capture.human_words import count_images, read_words, strip_memories

NEWLY_SPAWNED = "You are the newly spawned agent."
"""How the result of `spawn_agent` starts in the copy of the history that the sub-agent is given."""
BEGINNING_GAP = timedelta(milliseconds=250)
"""A fork's repeated beginning is written in one go (at most 19 ms for 705 records in the real files); the first answer
takes a model's time."""

_EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)$", re.M)
_OUTPUT_HEADER = re.compile(
    r"\A(?:(?:Command|Chunk ID|Wall time|Process exited with code|Process running with session ID|Exit code|"
    r"Original token count|Total output lines|Script \w+)\b[^\n]*\n)+Output:\n+"
)
_IMAGE_TAG = re.compile(r"\A\s*</?image\b[^>]*>\s*\Z")


class CodexReader(LineReader):
    """Reads one Codex file."""

    harness: Harness = "codex"

    def __init__(self, session_id: str, state: Mapping[str, Any] | None = None) -> None:
        super().__init__(session_id, state)
        kept = state or {}
        self.root: str = kept.get("root", session_id)
        """The session that the whole family of forks goes back to."""
        self._header_count: int = kept.get("header_count", 0)
        self._is_header: bool = kept.get("is_header", True)
        self._is_subagent: bool = kept.get("is_subagent", False)
        self._beginning_until: datetime | None = event_time(kept.get("beginning_until"))

    def state(self) -> dict[str, Any]:
        """Returns what a new reader needs to go on from here."""
        return {
            **super().state(),
            "root": self.root,
            "header_count": self._header_count,
            "is_header": self._is_header,
            "is_subagent": self._is_subagent,
            "beginning_until": self._beginning_until.isoformat() if self._beginning_until else None,
        }

    def parse(self, record: dict[str, Any]) -> Parsed:
        """Returns the record in normal form."""
        record_type, payload = str(record["type"]), record.get("payload") or {}
        at = event_time(record.get("timestamp"))
        if record_type == "session_meta":
            parsed = self._session_meta(payload, at)
        else:
            self._is_header = False
            self._leave_beginning(at)
            parsed = self._parse_later(record_type, payload)
        parsed.event_at = at
        return parsed

    def _parse_later(self, record_type: str, payload: dict[str, Any]) -> Parsed:
        if record_type == "response_item":
            parsed = self._item(payload)
            return self._in_subagent(parsed) if self._is_subagent and not self._beginning_until else parsed
        if record_type == "event_msg":
            return _event(payload)
        if record_type == "compacted":
            return _compacted(payload)
        parsed = Parsed(record_type, "known" if record_type in CODEX_RECORDS else "unknown")
        parsed.cwd = text_of(payload.get("cwd"))
        return parsed

    def _session_meta(self, payload: dict[str, Any], at: datetime | None) -> Parsed:
        named = text_of(payload.get("id"))
        parsed = Parsed("session_meta", "known", session_id=named, native_id=named)
        if self._is_header:
            if self._header_count == 0:
                parsed.parent_session_id = self._begin(payload, named, at)
            else:
                self.root, self._beginning_until = named or self.root, at
            self._header_count += 1
        return self._describe(parsed, payload)

    def _begin(self, payload: dict[str, Any], named: str | None, at: datetime | None) -> str | None:
        """Takes in the file's own header and returns the session that this one was forked from or spawned by."""
        source, forked_from = payload.get("source"), text_of(payload.get("forked_from_id"))
        subagent = source.get("subagent") if isinstance(source, Mapping) else None
        self._is_subagent = subagent is not None or payload.get("thread_source") == "subagent"
        self.root = forked_from or named or self.root
        self._beginning_until = at if forked_from else None
        parent = forked_from or text_of(payload.get("parent_thread_id")) or _spawner(subagent)
        return parent if parent != self.session_id else None

    def _describe(self, parsed: Parsed, payload: dict[str, Any]) -> Parsed:
        git = payload.get("git") or {}
        parsed.cwd, parsed.version = text_of(payload.get("cwd")), text_of(payload.get("cli_version"))
        parsed.branch, parsed.repository = text_of(git.get("branch")), repository_name(git.get("repository_url"))
        return parsed

    def _leave_beginning(self, at: datetime | None) -> None:
        if self._beginning_until is None:
            return
        is_near = at is not None and at - self._beginning_until < BEGINNING_GAP
        self._beginning_until = at if is_near else None

    def _item(self, payload: dict[str, Any]) -> Parsed:
        item_type = payload.get("type")
        name = f"response_item/{item_type}"
        if item_type == "message":
            return _message(payload)
        if item_type in ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"):
            return self._call(name, payload)
        if item_type in ("function_call_output", "custom_tool_call_output", "tool_search_output"):
            return self._result(name, payload)
        if item_type == "agent_message":
            text, images = _joined(payload.get("content") or [])
            parsed = Parsed(name, "message", author="subagent", kind="text", content=text, image_count=images)
            parsed.text = strip_memories(text)
            return parsed
        return Parsed(name, "known" if item_type in CODEX_ITEMS else "unknown")

    def _call(self, name: str, payload: dict[str, Any]) -> Parsed:
        tool, arguments = _called(payload)
        call_id = text_of(payload.get("call_id")) or text_of(payload.get("id"))
        parsed = Parsed(name, "message", author="assistant", kind="tool_call", tool_name=tool, call_id=call_id)
        call = look_at_call(tool, _decoded(arguments))
        parsed.files_read, parsed.files_modified = call.files_read, call.files_modified
        parsed.text = parsed.content = render_call(tool, arguments)
        if call_id:
            parsed.identity = f"{self.root}|call:{call_id}"
            self.remember_call(call_id, tool, call.author)
        return parsed

    def _result(self, name: str, payload: dict[str, Any]) -> Parsed:
        call_id = text_of(payload.get("call_id"))
        tool, author = self.answer_call(call_id)
        output, images = _joined(payload.get("output") or "")
        parsed = Parsed(name, "message", author=author, kind="tool_result", tool_name=tool, call_id=call_id)
        parsed.identity = f"{self.root}|result:{call_id}" if call_id else None
        parsed.content, parsed.image_count = output, images
        text, parsed.is_error = read_output(output)
        parsed.text = strip_memories(text)
        if tool == "spawn_agent" and output.startswith(NEWLY_SPAWNED):
            parsed.author = "injected"
            self._beginning_until = None
        return parsed

    @staticmethod
    def _in_subagent(parsed: Parsed) -> Parsed:
        parsed.is_user_turn = False
        if parsed.author in ("owner", "assistant"):
            parsed.author = "subagent"
        return parsed


def read_output(output: str) -> tuple[str, bool]:
    """Returns what a command printed, without the lines that Codex puts above it, and whether it failed."""
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
    return output[header.end() :], "Script failed" in header[0] or (code is not None and code[1] != "0")


def _message(payload: dict[str, Any]) -> Parsed:
    role, blocks = payload.get("role"), payload["content"]
    name = f"response_item/message/{role}"
    blocks = [{"type": "input_text", "text": blocks}] if isinstance(blocks, str) else blocks
    content, images = _joined(blocks)
    if not content.strip() and not images:
        return Parsed(name, "known")
    parsed = Parsed(name, "message", author="injected", kind="text", content=content, image_count=images)
    if role == "assistant":
        parsed.author, parsed.text = "assistant", strip_memories(content)
    elif role == "user":
        _find_words(parsed, blocks)
    else:
        parsed.text = strip_memories(content)
    return parsed


def _find_words(parsed: Parsed, blocks: list[dict[str, Any]]) -> None:
    """Gives the message to the owner with the words of those blocks that a person typed, else leaves it to the harness."""
    texts = [b["text"] for b in blocks if b.get("type") in ("input_text", "text")]
    words = [read_words(text) for text in texts if text.strip() and not _IMAGE_TAG.match(text)]
    own = "\n".join(w.text for w in words if w.voice == "person")
    parsed.image_count = max(parsed.image_count, count_images(own))
    if own or (parsed.image_count and not words):
        parsed.author, parsed.is_turn, parsed.text = "owner", True, strip_memories(own) or "[image]"
        parsed.is_user_turn = any(w.is_turn for w in words) or not words
    else:
        parsed.text = strip_memories(parsed.content or "")
        parsed.kind = "summary" if any(w.voice == "summary" for w in words) else "text"


def _event(payload: dict[str, Any]) -> Parsed:
    event_type = payload.get("type")
    parsed = Parsed(f"event_msg/{event_type}", "known" if event_type in CODEX_EVENTS else "unknown")
    if event_type == "exec_command_end":
        commands = payload.get("parsed_cmd") or []
        parsed.files_read = tuple(c["path"] for c in commands if c.get("type") == "read" and text_of(c.get("path")))
    elif event_type == "patch_apply_end":
        changed = payload.get("changes") if payload.get("success", True) else None
        parsed.files_modified = tuple(str(path) for path in changed or ())
    elif event_type == "thread_name_updated":
        parsed.title = text_of(payload.get("thread_name"))
    return parsed


def _compacted(payload: dict[str, Any]) -> Parsed:
    """Returns the boundary; its summary is a message where it can be read (remote compaction encrypts it)."""
    summary = text_of(payload.get("message"))
    if summary is None:
        return Parsed("compacted", "known", boundary="compaction")
    text = strip_memories(summary)
    return Parsed("compacted", "message", author="injected", kind="summary", text=text, content=summary, boundary="compaction")


def _called(payload: dict[str, Any]) -> tuple[str, Any]:
    """Returns the name of the called tool and its arguments as written."""
    if payload["type"] == "web_search_call":
        action = payload.get("action") or {}
        return "web_search", action.get("query") or action.get("url") or action.get("type") or ""
    if payload["type"] == "local_shell_call":
        return "local_shell", payload.get("action") or {}
    if payload["type"] == "tool_search_call":
        return "tool_search", payload.get("arguments") or ""
    name, namespace = str(payload["name"]), payload.get("namespace")
    arguments = payload.get("arguments") if "arguments" in payload else payload.get("input")
    return f"{namespace}.{name}" if namespace else name, arguments or ""


def _decoded(arguments: Any) -> Any:
    if isinstance(arguments, str) and arguments.startswith("{"):
        try:
            return orjson.loads(arguments)
        except orjson.JSONDecodeError:
            return arguments
    return arguments


def _joined(content: Any) -> tuple[str, int]:
    """Returns the text of a string or of content blocks, and the number of images among them."""
    if isinstance(content, str):
        return content, 0
    if isinstance(content, Mapping):
        return _joined(content.get("content") or content.get("output") or "")
    texts = [b["text"] for b in content if isinstance(b.get("text"), str)]
    return "\n".join(texts), sum(b.get("type") in ("input_image", "image") for b in content)


def _spawner(subagent: Any) -> str | None:
    spawn = subagent.get("thread_spawn") if isinstance(subagent, Mapping) else None
    return text_of(spawn.get("parent_thread_id")) if isinstance(spawn, Mapping) else None
