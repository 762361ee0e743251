"""Reads pi's transcripts: `sessions/--<folder>--/<time>_<uuid>.jsonl`, versions 1 (linear), 2 and 3 (trees with entry ids).

All branches of a tree are read, each entry once. Entries keep their time and content when a session is forked or when a
newer pi rewrites an old file with ids, so these two, and not the ids, tell an entry from others.
"""

import re
from collections.abc import Mapping
from typing import Any

from memory_assets.schema.records import Harness
from memory_assets.stages.capture.formats.known_types import PI_ENTRIES
from memory_assets.stages.capture.formats.normal_form import LineReader, Parsed, event_time, text_of
from memory_assets.stages.capture.formats.tool_calls import look_at_call, render_call
from memory_assets.stages.capture.human_words import count_images, read_words, strip_memories

INJECTED_ROLES = frozenset({"custom", "hookMessage"})
SUMMARY_ROLES = frozenset({"branchSummary", "compactionSummary"})
REMEMBERED_ENTRIES = 500
"""Entries among which the beginning of a compaction's `retainedTail` is looked for (it keeps some 20,000 tokens)."""

_SESSION_IN_NAME = re.compile(r"_([^_/\\]+?)\.jsonl$")


class PiReader(LineReader):
    """Reads one pi file."""

    harness: Harness = "pi"

    def __init__(self, session_id: str, state: Mapping[str, Any] | None = None) -> None:
        super().__init__(session_id, state)
        kept = state or {}
        self._entry_count: int = kept.get("entry_count", 0)
        self._recent: list[list[Any]] = [list(pair) for pair in kept.get("recent", [])]

    def state(self) -> dict[str, Any]:
        """Returns what a new reader needs to go on from here."""
        return {**super().state(), "entry_count": self._entry_count, "recent": self._recent}

    def parse(self, record: dict[str, Any]) -> Parsed:
        """Returns the record in normal form."""
        native_id = text_of(record.get("id")) if record.get("type") != "session" else None
        # Version 1 has no ids; its compactions name the first kept entry by number, the header being 0.
        native_id = native_id or str(self._entry_count)
        self._entry_count += 1
        parsed = self._entry(str(record.get("type")), record)
        parsed.native_id = native_id
        parsed.event_at = event_time(record.get("timestamp")) or parsed.event_at
        if parsed.status == "message" and parsed.identity is None:
            parsed.identity = f"{record.get('timestamp')}|{parsed.record_type}|{parsed.call_id or ''}"
        self._remember_entry(record, native_id)
        return parsed

    def _entry(self, entry_type: str, record: dict[str, Any]) -> Parsed:
        if entry_type == "message":
            return self._message(record["message"])
        if entry_type == "session":
            return self._header(record)
        if entry_type == "compaction":
            return self._compaction(record)
        if entry_type == "branch_summary":
            return _summary(entry_type, record.get("summary"), record.get("details"))
        if entry_type == "custom_message":
            return _injected(entry_type, record.get("content"))
        if entry_type == "session_info":
            return Parsed(entry_type, "known", title=text_of(record.get("name")))
        return Parsed(entry_type, "known" if entry_type in PI_ENTRIES else "unknown")

    def _header(self, record: dict[str, Any]) -> Parsed:
        version = record.get("version") or 1
        parsed = Parsed("session", "known", session_id=text_of(record.get("id")), cwd=text_of(record.get("cwd")))
        parsed.version = f"format {version}"
        parent = record.get("parentSession") or record.get("branchedFrom")
        if isinstance(parent, str):
            found = _SESSION_IN_NAME.search(parent)
            parsed.parent_session_id = found[1] if found else parent
        return parsed

    def _message(self, message: dict[str, Any]) -> Parsed:
        role = message.get("role")
        name = f"message/{role}"
        if role == "user":
            parsed = _user(name, message["content"])
        elif role == "assistant":
            parsed = self._assistant(name, message["content"])
        elif role == "toolResult":
            parsed = self._result(name, message)
        elif role == "bashExecution":
            parsed = _bash(name, message)
        elif role in INJECTED_ROLES:
            parsed = _injected(name, message.get("content"))
        elif role in SUMMARY_ROLES:
            parsed = _summary(name, message.get("summary") or message.get("content"), None)
        else:
            parsed = Parsed(name, "unknown")
        parsed.event_at = event_time(message.get("timestamp"))
        return parsed

    def _assistant(self, name: str, content: Any) -> Parsed:
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        said = [b["text"] for b in blocks if b["type"] == "text" and b["text"]]
        calls = [b for b in blocks if b["type"] == "toolCall"]
        if not said and not calls:
            return Parsed(name, "known")
        parsed = Parsed(name, "message", author="assistant", kind="text" if said else "tool_call")
        parsed.content = "\n".join([*said, *(str(call["id"]) for call in calls)])
        for call in calls:
            tool = str(call["name"])
            seen = look_at_call(tool, call.get("arguments"))
            self.remember_call(str(call["id"]), tool, seen.author)
            parsed.files_read += seen.files_read
            parsed.files_modified += seen.files_modified
        if calls:
            parsed.tool_name, parsed.call_id = str(calls[0]["name"]), str(calls[0]["id"])
        rendered = (render_call(str(call["name"]), call.get("arguments")) for call in calls)
        parsed.text = strip_memories("\n".join([*said, *rendered]))
        return parsed

    def _result(self, name: str, message: dict[str, Any]) -> Parsed:
        call_id = text_of(message.get("toolCallId"))
        tool, author = self.answer_call(call_id)
        named = text_of(message.get("toolName")) or tool
        author = look_at_call(named, {}).author if tool is None and named else author
        text, images = _joined(message.get("content"))
        parsed = Parsed(name, "message", author=author, kind="tool_result", tool_name=named, call_id=call_id)
        parsed.content, parsed.text = text, strip_memories(text)
        parsed.is_error, parsed.image_count = bool(message.get("isError")), images
        return parsed

    def _compaction(self, record: dict[str, Any]) -> Parsed:
        parsed = _summary("compaction", record.get("summary"), record.get("details"))
        parsed.boundary = "compaction"
        parsed.kept_from = text_of(record.get("firstKeptEntryId")) or self._first_retained(record.get("retainedTail"))
        if parsed.kept_from is None and isinstance(index := record.get("firstKeptEntryIndex"), int):
            parsed.kept_from = str(index)
        return parsed

    def _first_retained(self, tail: Any) -> str | None:
        """Returns the id of the entry that a retained tail starts with, told by its time and role."""
        if not isinstance(tail, list) or not tail:
            return None
        wanted = [tail[0].get("timestamp"), tail[0].get("role")]
        return next((entry for at, role, entry in reversed(self._recent) if [at, role] == wanted), None)

    def _remember_entry(self, record: dict[str, Any], native_id: str) -> None:
        message = record.get("message")
        if isinstance(message, Mapping) and (at := message.get("timestamp")) is not None:
            self._recent.append([at, message.get("role"), native_id])
            del self._recent[:-REMEMBERED_ENTRIES]


def _user(name: str, content: Any) -> Parsed:
    text, images = _joined(content)
    words = read_words(text)
    is_person = words.voice == "person" or (images > 0 and not text.strip())
    parsed = Parsed(name, "message", author="owner" if is_person else "injected", kind="text", content=text, is_turn=True)
    parsed.text = strip_memories(words.text) or ("[image]" if images else "")
    parsed.is_user_turn = is_person and (words.is_turn or images > 0)
    parsed.image_count = max(images, count_images(text))
    return parsed


def _bash(name: str, message: dict[str, Any]) -> Parsed:
    """Returns a command that the person ran themselves, with its output, as the tool's words."""
    command, output = str(message.get("command") or ""), str(message.get("output") or "")
    parsed = Parsed(name, "message", author="tool", kind="tool_result", tool_name="bash", content=f"{command}\n{output}")
    parsed.text = strip_memories(f"$ {command}\n{output}".rstrip())
    parsed.is_error = message.get("exitCode") not in (0, None)
    return parsed


def _injected(name: str, content: Any) -> Parsed:
    text, images = _joined(content)
    parsed = Parsed(name, "message", author="injected", kind="text", content=text, image_count=images)
    parsed.text = strip_memories(text)
    return parsed


def _summary(name: str, summary: Any, details: Any) -> Parsed:
    parsed = Parsed(name, "known")
    if text := text_of(summary):
        parsed = Parsed(name, "message", author="injected", kind="summary", text=strip_memories(text), content=text)
    if isinstance(details, Mapping):
        parsed.files_read = tuple(str(path) for path in details.get("readFiles") or ())
        parsed.files_modified = tuple(str(path) for path in details.get("modifiedFiles") or ())
    return parsed


def _joined(content: Any) -> tuple[str, int]:
    """Returns the text of a string or of content blocks, and the number of images among them."""
    if content is None or isinstance(content, str):
        return content or "", 0
    texts = [b["text"] for b in content if b["type"] == "text"]
    return "\n".join(texts), sum(b["type"] == "image" for b in content)
