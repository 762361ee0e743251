"""Reads pi's transcripts: `sessions/--<folder>--/<time>_<uuid>.jsonl`.

Version 1 of the format is linear; versions 2 and 3 are trees of entries with ids. All branches of a
tree are read, each entry once. When a session is forked, or when a newer pi rewrites an old file
with ids, entries keep their time and content. So these two identify an entry, and not its id.
"""

import re
from collections.abc import Mapping
from typing import Any

from memory_assets.harnesses.human_words import strip_memories
from memory_assets.harnesses.normal_form import (
    Parsed,
    TranscriptReader,
    as_blocks,
    join_blocks,
    parent_in,
    text_or_none,
)
from memory_assets.harnesses.tool_calls import describe_call
from memory_assets.text.moments import event_time
from memory_assets.text.patterns import words_beside

_ENTRIES = words_beside(__file__)["entries"]
INJECTED_ROLES = frozenset({"custom", "hookMessage"})
SUMMARY_ROLES = frozenset({"branchSummary", "compactionSummary"})
SYSTEM_ROLE = "system"
"""Role of a message with the changed prompt and tools (since pi 0.87)."""

REMEMBERED_ENTRIES = 500
"""Latest entries that are remembered. The first entry of a compaction's `retainedTail` is looked up
among them; such a tail holds some 20,000 tokens.
"""

_SESSION_IN_NAME = re.compile(r"_([^_/\\]+?)\.jsonl$")


class PiReader(TranscriptReader):
    """Reads one pi file."""

    def __init__(self, session_id: str, state: Mapping[str, Any] | None = None) -> None:
        super().__init__(session_id, {"entry_count": 0, "recent": [], **(state or {})})

    def parse(self, record: dict[str, Any]) -> Parsed:
        """Returns the record in normal form."""
        is_header = record.get("type") == "session"
        entry_id = None if is_header else text_or_none(record.get("id"))
        # Version 1 has no ids. Its compactions name entries by number; the header has number 0.
        native_id = entry_id or str(self.state["entry_count"])
        self.state["entry_count"] += 1
        parsed = self._entry(str(record.get("type")), record)
        parsed.native_id = native_id
        parsed.parent_id = parent_in(record, "parentId")
        parsed.event_at = event_time(record.get("timestamp")) or parsed.event_at
        if parsed.status == "message" and parsed.identity is None:
            place = (record.get("timestamp"), parsed.record_type, parsed.call_id or "")
            parsed.identity = "|".join(map(str, place))
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
            return Parsed(entry_type, "known", title=text_or_none(record.get("name")))
        return Parsed.not_a_message(entry_type, entry_type in _ENTRIES)

    def _header(self, record: dict[str, Any]) -> Parsed:
        version = f"format {record.get('version') or 1}"
        parsed = Parsed("session", "known", cwd=text_or_none(record.get("cwd")), version=version)
        parent = record.get("parentSession") or record.get("branchedFrom")
        if isinstance(parent, str):
            match = _SESSION_IN_NAME.search(parent)
            parsed.parent_session_id = match[1] if match else parent
        return parsed

    def _message(self, entry: dict[str, Any]) -> Parsed:
        role = entry.get("role")
        name = f"message/{role}"
        if role == "user":
            parsed = Parsed.user_message(name, *join_blocks(entry["content"]))
            parsed.kind = "text"
        elif role == "assistant":
            parsed = self._assistant(name, as_blocks(entry["content"]))
            parsed.model = text_or_none(entry.get("model"))
        elif role == "toolResult":
            parsed = self._result(name, entry)
        elif role == "bashExecution":
            parsed = _bash(name, entry)
        elif role in INJECTED_ROLES:
            parsed = _injected(name, entry.get("content"))
        elif role in SUMMARY_ROLES:
            parsed = _summary(name, entry.get("summary") or entry.get("content"), None)
        else:
            parsed = Parsed.not_a_message(name, role == SYSTEM_ROLE)
        parsed.event_at = event_time(entry.get("timestamp"))
        return parsed

    def _assistant(self, name: str, blocks: list[dict[str, Any]]) -> Parsed:
        texts = [b["text"] for b in blocks if b["type"] == "text" and b["text"]]
        calls = [b for b in blocks if b["type"] == "toolCall"]
        if not texts and not calls:
            return Parsed(name, "known")
        named_calls = [(str(c["id"]), str(c["name"]), c.get("arguments")) for c in calls]
        return self.assistant_message(name, texts, named_calls)

    def _result(self, name: str, entry: dict[str, Any]) -> Parsed:
        parsed = self.tool_result(name, entry.get("toolCallId"), entry.get("content"))
        parsed.text = strip_memories(str(parsed.content))
        tool_name = text_or_none(entry.get("toolName"))
        if parsed.tool_name is None and tool_name:
            parsed.author = describe_call(tool_name, {}).author
        parsed.tool_name = tool_name or parsed.tool_name
        parsed.is_error = bool(entry.get("isError"))
        return parsed

    def _compaction(self, record: dict[str, Any]) -> Parsed:
        parsed = _summary("compaction", record.get("summary"), record.get("details"))
        parsed.boundary = "compaction"
        kept_id = text_or_none(record.get("firstKeptEntryId"))
        parsed.kept_from = kept_id or self._first_retained(record.get("retainedTail"))
        index = record.get("firstKeptEntryIndex")
        if parsed.kept_from is None and isinstance(index, int):
            parsed.kept_from = str(index)
        return parsed

    def _first_retained(self, tail: Any) -> str | None:
        """Returns the id of the first entry of a retained tail, found by its time and role."""
        if not isinstance(tail, list) or not tail:
            return None
        first = [tail[0].get("timestamp"), tail[0].get("role")]
        entries = (id for *entry, id in reversed(self.state["recent"]) if entry == first)
        return next(entries, None)

    def _remember_entry(self, record: dict[str, Any], native_id: str) -> None:
        entry = record.get("message")
        if isinstance(entry, Mapping) and entry.get("timestamp") is not None:
            self.state["recent"].append([entry["timestamp"], entry.get("role"), native_id])
            del self.state["recent"][:-REMEMBERED_ENTRIES]


def _bash(name: str, entry: dict[str, Any]) -> Parsed:
    """Returns a command that the person ran, with its output, as a message of the tool."""
    command = str(entry.get("command") or "")
    output = str(entry.get("output") or "")
    parsed = Parsed.message(name, "tool", "tool_result", f"{command}\n{output}", tool_name="bash")
    parsed.text = strip_memories(f"$ {command}\n{output}".rstrip())
    parsed.is_error = entry.get("exitCode") not in (0, None)
    return parsed


def _injected(name: str, content: Any) -> Parsed:
    text, images = join_blocks(content)
    return Parsed.message(name, "injected", "text", text, image_count=images)


def _summary(name: str, summary: Any, details: Any) -> Parsed:
    text = text_or_none(summary)
    parsed = Parsed(name, "known")
    if text:
        parsed = Parsed.message(name, "injected", "summary", text)
    if isinstance(details, Mapping):
        parsed.files_read = tuple(str(path) for path in details.get("readFiles") or ())
        parsed.files_modified = tuple(str(path) for path in details.get("modifiedFiles") or ())
    return parsed
