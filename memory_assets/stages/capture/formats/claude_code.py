"""Reads Claude Code's transcripts: `projects/<slug>/<session>.jsonl` and `<session>/subagents/agent-<id>.jsonl`.

One record per line, one content block per assistant record. A person's words are also in queued attachments, answers to
questions and reasons for rejecting a tool call. Sidechains are sub-agents, in files of their own or, in old versions, among
the lines of the main thread.
"""

import re
from collections.abc import Mapping
from typing import Any

from memory_assets.stages.capture.formats.known_types import CLAUDE_ATTACHMENTS, CLAUDE_RECORDS, CLAUDE_SYSTEM
from memory_assets.stages.capture.formats.normal_form import Parsed, TranscriptReader, as_blocks, join_blocks, text_or_none
from memory_assets.stages.capture.human_words import parse_user_text, strip_memories
from memory_assets.text.moments import event_time

SYNTHETIC = "<synthetic>"
"""The model of what Claude Code itself wrote in the assistant's role."""

_BLOCKS = frozenset({"text", "tool_use", "server_tool_use", "thinking", "redacted_thinking"})

_ANSWERED = re.compile(
    r"\A(?:Your questions have been answered|User has answered your questions): (.*?)\.? ?(?:You can now continue.*)?\Z", re.S
)
_REJECTED = re.compile(r"\AThe user doesn't want to (?:proceed|take this action).*?\bthe user said:\n(.*)\Z", re.S)
_REJECTED_NOTE = "\n\nNote: The user's next message may contain"


class ClaudeCodeReader(TranscriptReader):
    """Reads one Claude Code file."""

    def __init__(self, session_id: str, state: Mapping[str, Any] | None = None, *, is_subagent: bool = False) -> None:
        first = {"custom_title": None, "is_boundary_open": False, "has_branch": False}
        super().__init__(session_id, {**first, **(state or {})})
        self._is_subagent = is_subagent

    def parse(self, record: dict[str, Any]) -> Parsed:
        """Returns the record in normal form."""
        parsers = {"assistant": self._assistant, "user": self._user, "attachment": self._attachment, "system": self._system}
        parsed = parsers.get(str(record.get("type")), self._other)(record)
        parsed.event_at = event_time(record.get("timestamp")) or parsed.event_at
        parsed.native_id, parsed.cwd = text_or_none(record.get("uuid")), text_or_none(record.get("cwd"))
        parsed.branch, parsed.version = text_or_none(record.get("gitBranch")), text_or_none(record.get("version"))
        parsed.branch = None if parsed.branch == "HEAD" else parsed.branch
        self.state["has_branch"] |= parsed.branch is not None
        # A sub-agent's records name their parent's session.
        named = text_or_none(record.get("sessionId"))
        parsed.parent_session_id = None if named == self.session_id else named
        is_subagent = self._is_subagent or record.get("isSidechain")
        return parsed.to_subagent() if parsed.status == "message" and is_subagent else parsed

    def _assistant(self, record: dict[str, Any]) -> Parsed:
        answer = record["message"]
        blocks = as_blocks(answer["content"])
        said = [b["text"] for b in blocks if b["type"] == "text" and b["text"]]
        calls = [b for b in blocks if b["type"] in ("tool_use", "server_tool_use")]
        if not said and not calls:
            strange = [b["type"] for b in blocks if b["type"] not in _BLOCKS]
            return Parsed(f"assistant/{strange[0]}", "unknown") if strange else Parsed("assistant/thinking", "known")
        parsed = self.assistant_message("assistant", said, [(str(c["id"]), str(c["name"]), c.get("input")) for c in calls])
        parsed.identity = f"assistant:{answer.get('id') or record.get('uuid')}"
        parsed.model = text_or_none(answer.get("model"))
        if record.get("isApiErrorMessage") or parsed.model == SYNTHETIC:
            parsed.author, parsed.model = "injected", None
        return parsed

    def _user(self, record: dict[str, Any]) -> Parsed:
        content = record["message"]["content"]
        if not isinstance(content, str) and any(b["type"] == "tool_result" for b in content):
            return self._results(content)
        text, images = join_blocks(content)
        parsed = Parsed.user_message("user", text, images, f"user:{record.get('timestamp') or record.get('uuid')}")
        if record.get("isCompactSummary"):
            parsed.author, parsed.kind, parsed.is_user_turn = "injected", "summary", False
        elif record.get("isMeta") or _is_automatic(record.get("origin"), record.get("promptSource")):
            parsed.author, parsed.is_user_turn, parsed.text = "injected", False, strip_memories(text)
        if parsed.kind == "summary":
            # Old versions wrote the summary without a boundary line before it.
            parsed.boundary = None if self.state["is_boundary_open"] else "compaction"
            self.state["is_boundary_open"] = False
        return parsed

    def _results(self, blocks: list[dict[str, Any]]) -> Parsed:
        results = [b for b in blocks if b["type"] == "tool_result"]
        joined = [join_blocks(b.get("content")) for b in results]
        text = "\n".join(text for text, _ in joined)
        beside, images = join_blocks([b for b in blocks if b["type"] != "tool_result"])
        parsed = self.tool_result("user/tool_result", results[0].get("tool_use_id"), text)
        parsed.text, parsed.content = strip_memories(text), f"{text}\n{beside}" if beside else text
        parsed.identity = f"result:{','.join(str(b.get('tool_use_id')) for b in results)}"
        parsed.is_error = any(bool(b.get("is_error")) for b in results)
        parsed.image_count = images + sum(images for _, images in joined)
        _find_words(parsed, text, beside)
        return parsed

    def _attachment(self, record: dict[str, Any]) -> Parsed:
        attachment = record["attachment"]
        attachment_type = attachment["type"]
        name = f"attachment/{attachment_type}"
        if attachment_type == "queued_command":
            at = attachment.get("timestamp") or record.get("timestamp")
            parsed = Parsed.user_message(name, *join_blocks(attachment["prompt"]), f"queued:{at}")
            if attachment.get("commandMode", "prompt") != "prompt" or _is_automatic(attachment.get("origin"), None):
                parsed.author, parsed.is_user_turn = "injected", False
            return parsed
        parsed = Parsed(name, "known" if attachment_type in CLAUDE_ATTACHMENTS else "unknown")
        if attachment_type == "file" and (path := text_or_none(attachment.get("filename"))):
            parsed.files_read = (path,)
        return parsed

    def _system(self, record: dict[str, Any]) -> Parsed:
        subtype = record.get("subtype")
        name = f"system/{subtype}"
        if subtype == "compact_boundary":
            self.state["is_boundary_open"] = True
            return Parsed(name, "known", boundary="compaction", kept_from=_kept_from(record.get("compactMetadata") or {}))
        if subtype == "local_command" and (content := text_or_none(record.get("content"))):
            words = parse_user_text(content)
            if words.voice == "person" and words.is_turn:
                return Parsed.user_message(name, content, 0, f"user:{record.get('timestamp')}")
        return Parsed(name, "known" if subtype in CLAUDE_SYSTEM else "unknown")

    def _other(self, record: dict[str, Any]) -> Parsed:
        record_type, state = str(record.get("type")), self.state
        parsed = Parsed(record_type, "known" if record_type in CLAUDE_RECORDS else "unknown")
        if record_type == "custom-title":
            parsed.title = state["custom_title"] = text_or_none(record.get("customTitle"))
        elif record_type in ("ai-title", "summary"):
            parsed.title = state["custom_title"] or text_or_none(
                record.get("aiTitle" if record_type == "ai-title" else "summary")
            )
        elif record_type == "pr-link" and not self.state["has_branch"]:
            # In a folder with a branch the pull request may be one to another repository.
            parsed.repository = text_or_none(record.get("prRepository"))
        return parsed


def _find_words(parsed: Parsed, result: str, beside: str) -> None:
    """Makes the message the owner's where the result of a tool call holds their answer or objection."""
    if beside and (words := parse_user_text(beside)).voice == "person":
        parsed.author, parsed.kind, parsed.text, parsed.is_user_turn = "owner", "text", words.text, True
    elif parsed.tool_name == "AskUserQuestion" and (answered := _ANSWERED.match(result)):
        parsed.author, parsed.kind, parsed.text = "owner", "text", answered[1]
    elif result.startswith("The user doesn't want to") and (rejected := _REJECTED.match(result)):
        said = rejected[1].partition(_REJECTED_NOTE)[0].strip()
        if said and not said.startswith("The user wants to clarify"):
            parsed.author, parsed.kind, parsed.text, parsed.is_user_turn = "owner", "text", said, True


def _is_automatic(origin: Any, prompt_source: Any) -> bool:
    kind = origin.get("kind") if isinstance(origin, Mapping) else None
    return prompt_source == "system" or kind not in (None, "human")


def _kept_from(metadata: Mapping[str, Any]) -> str | None:
    """Returns the uuid of the first line that a compaction kept."""
    segment = metadata.get("preservedSegment") or {}
    messages = metadata.get("preservedMessages") or {}
    uuids = messages.get("uuids") or messages.get("allUuids") or [None]
    return text_or_none(segment.get("headUuid")) or text_or_none(uuids[0])
