"""Reads Claude Code's transcripts: `projects/<slug>/<session>.jsonl` and `<session>/subagents/agent-<id>.jsonl`.

One record per line, one content block per assistant record; a person's words also arrive as queued attachments, as
answers to questions and as reasons for rejecting a tool call. Sidechains are sub-agents, in files of their own or, in
old versions, among the main thread's lines.
"""

import re
from collections.abc import Mapping
from typing import Any

from memory_assets.schema.records import Author, Harness, MessageKind
from memory_assets.stages.capture.formats.known_types import CLAUDE_ATTACHMENTS, CLAUDE_RECORDS, CLAUDE_SYSTEM
from memory_assets.stages.capture.formats.normal_form import LineReader, Parsed, event_time, text_of
from memory_assets.stages.capture.formats.tool_calls import look_at_call, render_call
from memory_assets.stages.capture.human_words import count_images, read_words, strip_memories

_BLOCKS = frozenset({"text", "tool_use", "server_tool_use", "thinking", "redacted_thinking"})

_ANSWERED = re.compile(
    r"\A(?:Your questions have been answered|User has answered your questions): (.*?)\.? ?(?:You can now continue.*)?\Z", re.S
)
_REJECTED = re.compile(r"\AThe user doesn't want to (?:proceed|take this action).*?\bthe user said:\n(.*)\Z", re.S)
_REJECTED_NOTE = "\n\nNote: The user's next message may contain"


class ClaudeCodeReader(LineReader):
    """Reads one Claude Code file."""

    harness: Harness = "claude_code"

    def __init__(self, session_id: str, *, is_subagent: bool = False, state: Mapping[str, Any] | None = None) -> None:
        super().__init__(session_id, state)
        self._is_subagent = is_subagent
        self._custom_title: str | None = (state or {}).get("custom_title")
        self._is_boundary_open: bool = (state or {}).get("is_boundary_open", False)

    def state(self) -> dict[str, Any]:
        """Returns what a new reader needs to go on from here."""
        return {
            **super().state(),
            "custom_title": self._custom_title,
            "is_boundary_open": self._is_boundary_open,
        }

    def parse(self, record: dict[str, Any]) -> Parsed:
        """Returns the record in normal form."""
        record_type = record.get("type")
        if record_type == "assistant":
            parsed = self._assistant(record)
        elif record_type == "user":
            parsed = self._user(record)
        elif record_type == "attachment":
            parsed = self._attachment(record)
        elif record_type == "system":
            parsed = self._system(record)
        else:
            parsed = self._other(str(record_type), record)
        return self._with_envelope(parsed, record)

    def _with_envelope(self, parsed: Parsed, record: dict[str, Any]) -> Parsed:
        parsed.event_at = event_time(record.get("timestamp")) or parsed.event_at
        parsed.native_id = text_of(record.get("uuid"))
        parsed.cwd = text_of(record.get("cwd"))
        branch = text_of(record.get("gitBranch"))
        parsed.branch = branch if branch != "HEAD" else None
        parsed.version = text_of(record.get("version"))
        session_id = text_of(record.get("sessionId"))
        parsed.session_id = session_id
        if session_id is not None and session_id != self.session_id:
            parsed.parent_session_id = session_id
        if parsed.status == "message" and (self._is_subagent or record.get("isSidechain")):
            _to_subagent(parsed)
        return parsed

    def _assistant(self, record: dict[str, Any]) -> Parsed:
        message = record["message"]
        blocks = message["content"]
        blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
        said = [b["text"] for b in blocks if b["type"] == "text" and b["text"]]
        calls = [b for b in blocks if b["type"] in ("tool_use", "server_tool_use")]
        if not said and not calls:
            strange = [b["type"] for b in blocks if b["type"] not in _BLOCKS]
            return Parsed(f"assistant/{strange[0]}", "unknown") if strange else Parsed("assistant/thinking", "known")
        parsed = Parsed("assistant", "message", author="assistant", kind="text" if said else "tool_call")
        if record.get("isApiErrorMessage") or message.get("model") == "<synthetic>":
            parsed.author = "injected"
        parsed.identity = f"assistant:{message.get('id') or record.get('uuid')}"
        parsed.content = "\n".join([*said, *(call["id"] for call in calls)])
        self._add_calls(parsed, calls)
        parsed.text = strip_memories("\n".join([*said, *(render_call(c["name"], c.get("input")) for c in calls)]))
        return parsed

    def _add_calls(self, parsed: Parsed, calls: list[dict[str, Any]]) -> None:
        for call in calls:
            tool = str(call["name"])
            seen = look_at_call(tool, call.get("input"))
            self.remember_call(str(call["id"]), tool, seen.author)
            parsed.files_read += seen.files_read
            parsed.files_modified += seen.files_modified
            parsed.tool_name = parsed.tool_name or tool
            parsed.call_id = parsed.call_id or str(call["id"])

    def _user(self, record: dict[str, Any]) -> Parsed:
        content = record["message"]["content"]
        if not isinstance(content, str) and any(b["type"] == "tool_result" for b in content):
            return self._results(content)
        text, images = _joined(content)
        parsed = said_by_user("user", f"user:{record.get('timestamp') or record.get('uuid')}", text, images)
        if record.get("isCompactSummary"):
            parsed.author, parsed.kind, parsed.is_user_turn = "injected", "summary", False
        elif record.get("isMeta") or _is_automatic(record.get("origin"), record.get("promptSource")):
            parsed.author, parsed.is_user_turn, parsed.text = "injected", False, strip_memories(text)
        if parsed.kind == "summary":
            # Old versions wrote the summary without a boundary line before it.
            parsed.boundary = None if self._is_boundary_open else "compaction"
            self._is_boundary_open = False
        return parsed

    def _results(self, blocks: list[dict[str, Any]]) -> Parsed:
        results = [b for b in blocks if b["type"] == "tool_result"]
        joined = [_joined(b.get("content") or "") for b in results]
        text = "\n".join(text for text, _ in joined)
        call_id = text_of(results[0].get("tool_use_id"))
        tool, author = self.answer_call(call_id)
        parsed = Parsed("user/tool_result", "message", author=author, kind="tool_result", tool_name=tool, call_id=call_id)
        parsed.image_count = sum(images for _, images in joined)
        parsed.is_error = any(bool(b.get("is_error")) for b in results)
        beside, images = _joined([b for b in blocks if b["type"] != "tool_result"])
        parsed.identity = f"result:{','.join(str(b.get('tool_use_id')) for b in results)}"
        parsed.content = f"{text}\n{beside}" if beside else text
        parsed.image_count += images
        parsed.text = strip_memories(text)
        _find_words(parsed, text, beside)
        return parsed

    def _attachment(self, record: dict[str, Any]) -> Parsed:
        attachment = record["attachment"]
        attachment_type = attachment["type"]
        name = f"attachment/{attachment_type}"
        if attachment_type == "queued_command":
            at = attachment.get("timestamp") or record.get("timestamp")
            text, images = _joined(attachment["prompt"])
            parsed = said_by_user(name, f"queued:{at}", text, images)
            if attachment.get("commandMode", "prompt") != "prompt" or _is_automatic(attachment.get("origin"), None):
                parsed.author, parsed.is_user_turn = "injected", False
            return parsed
        parsed = Parsed(name, "known" if attachment_type in CLAUDE_ATTACHMENTS else "unknown")
        if attachment_type == "file" and (path := text_of(attachment.get("filename"))):
            parsed.files_read = (path,)
        return parsed

    def _system(self, record: dict[str, Any]) -> Parsed:
        subtype = record.get("subtype")
        name = f"system/{subtype}"
        if subtype == "compact_boundary":
            self._is_boundary_open = True
            return Parsed(name, "known", boundary="compaction", kept_from=_kept_from(record.get("compactMetadata") or {}))
        if subtype == "local_command" and (content := text_of(record.get("content"))):
            words = read_words(content)
            if words.voice == "person" and words.is_turn:
                return said_by_user(name, f"user:{record.get('timestamp')}", content, 0)
        return Parsed(name, "known" if subtype in CLAUDE_SYSTEM else "unknown")

    def _other(self, record_type: str, record: dict[str, Any]) -> Parsed:
        parsed = Parsed(record_type, "known" if record_type in CLAUDE_RECORDS else "unknown")
        if record_type == "custom-title":
            self._custom_title = text_of(record.get("customTitle"))
            parsed.title = self._custom_title
        elif record_type == "ai-title":
            parsed.title = self._custom_title or text_of(record.get("aiTitle"))
        elif record_type == "summary":
            parsed.title = self._custom_title or text_of(record.get("summary"))
        elif record_type == "pr-link":
            parsed.repository = text_of(record.get("prRepository"))
        return parsed


def said_by_user(record_type: str, identity: str, text: str, images: int) -> Parsed:
    """Returns the message that a text in the user's role is: the owner's words, or what the harness put there."""
    words = read_words(text)
    is_person = words.voice == "person" or (images > 0 and words.voice == "harness" and not text.strip())
    kind: MessageKind = "summary" if words.voice == "summary" else "text"
    author: Author = "owner" if is_person else "injected"
    parsed = Parsed(record_type, "message", author=author, kind=kind, identity=identity, content=text, is_turn=True)
    parsed.text = strip_memories(words.text) or ("[image]" if images else "")
    parsed.is_user_turn = is_person and (words.is_turn or images > 0)
    parsed.image_count = max(images, count_images(text))
    return parsed


def _find_words(parsed: Parsed, result: str, beside: str) -> None:
    """Makes the message the owner's where the result of a tool call holds what they answered or objected."""
    if beside and (words := read_words(beside)).voice == "person":
        parsed.author, parsed.kind, parsed.text, parsed.is_user_turn = "owner", "text", words.text, True
    elif parsed.tool_name == "AskUserQuestion" and (answered := _ANSWERED.match(result)):
        parsed.author, parsed.kind, parsed.text = "owner", "text", answered[1]
    elif result.startswith("The user doesn't want to") and (rejected := _REJECTED.match(result)):
        said = rejected[1].partition(_REJECTED_NOTE)[0].strip()
        if said and not said.startswith("The user wants to clarify"):
            parsed.author, parsed.kind, parsed.text, parsed.is_user_turn = "owner", "text", said, True


def _to_subagent(parsed: Parsed) -> None:
    """Makes what was said in a sub-agent's thread the sub-agent's: its instructions come from another agent."""
    parsed.is_user_turn = False
    if parsed.author in ("owner", "assistant"):
        parsed.author = "subagent"


def _joined(content: Any) -> tuple[str, int]:
    """Returns the text of a string or of content blocks, and the number of images among them."""
    if isinstance(content, str):
        return content, 0
    texts, images = [], 0
    for block in content:
        if block["type"] == "text":
            texts.append(block["text"])
        elif block["type"] == "image":
            images += 1
        elif block["type"] == "tool_reference":
            texts.append(f"[tool {block.get('tool_name')}]")
    return "\n".join(texts), images


def _is_automatic(origin: Any, prompt_source: Any) -> bool:
    kind = origin.get("kind") if isinstance(origin, Mapping) else None
    return prompt_source == "system" or kind not in (None, "human")


def _kept_from(metadata: Mapping[str, Any]) -> str | None:
    """Returns the uuid of the first line that a compaction kept as it was."""
    segment = metadata.get("preservedSegment") or {}
    messages = metadata.get("preservedMessages") or {}
    uuids = messages.get("uuids") or messages.get("allUuids") or [None]
    return text_of(segment.get("headUuid")) or text_of(uuids[0])
