"""Reads the lines that `database` makes of the parts of OpenCode's messages.

A fork copies messages under new ids, with their times; so time and content identify a message.
"""

import re
from typing import Any

from memory_assets.harnesses.human_words import strip_memories
from memory_assets.harnesses.normal_form import Parsed, TranscriptReader, text_or_none
from memory_assets.text.moments import event_time
from memory_assets.text.patterns import words_beside

KNOWN = words_beside(__file__)


class OpenCodeReader(TranscriptReader):
    """Reads one session of OpenCode."""

    @staticmethod
    def session_in(record: Any) -> str | None:
        """Returns the session that a header names."""
        return text_or_none(record.get("sessionID"))

    def parse(self, record: dict[str, Any]) -> Parsed:
        """Returns the line in normal form."""
        parsed = self._parse(str(record["type"]), record)
        parsed.event_at = event_time(record.get("at"))
        parsed.native_id = text_or_none(record.get("messageID"))
        if parsed.status == "message":
            parsed.identity = f"opencode:{record['created']}:{parsed.call_id or ''}"
            if record.get("isSubagent"):
                parsed.to_subagent()
        return parsed

    def _parse(self, record_type: str, record: dict[str, Any]) -> Parsed:
        if record_type == "session":
            return _header(record)
        if record_type == "text":
            return self._text(record)
        if record_type == "call":
            part = record["part"]
            call = (str(part["callID"]), str(part["tool"]), part.get("input"))
            parsed = self.assistant_message("call", [], [call])
            parsed.model = text_or_none(record.get("model"))
            return parsed
        if record_type == "result":
            return self._result(record["part"])
        if record_type == "revert":
            undone = self.undo_from(record["messages"])
            return Parsed("revert", "known", undone_turns=undone)
        return Parsed.not_a_message(record_type, record_type in KNOWN["records"])

    def _text(self, record: dict[str, Any]) -> Parsed:
        part = record["part"]
        text = part["text"]
        if record["role"] == "user":
            parsed = Parsed.user_message("user", _unquoted(text), 0)
            if part.get("synthetic") or part.get("ignored"):
                parsed.to_injected()
            self.remember_turn(parsed, record["messageID"])
            return parsed
        if record["isSummary"]:
            return Parsed.message("summary", "injected", "summary", text, boundary="compaction")
        parsed = self.assistant_message("text", [text], [])
        parsed.model = text_or_none(record.get("model"))
        return parsed

    def _result(self, part: dict[str, Any]) -> Parsed:
        parsed = self.tool_result("result", part["callID"], part.get("output") or part.get("error"))
        parsed.text = strip_memories(str(parsed.content))
        parsed.tool_name = parsed.tool_name or text_or_none(part.get("tool"))
        parsed.is_error = part["status"] == "error" or part.get("exit") not in (0, None)
        return parsed


def _header(record: dict[str, Any]) -> Parsed:
    return Parsed(
        "session",
        "known",
        cwd=text_or_none(record.get("cwd")),
        title=text_or_none(record.get("title")),
        version=text_or_none(record.get("version")),
        parent_session_id=text_or_none(record.get("parentID")),
    )


def _unquoted(text: str) -> str:
    """Returns the words of `opencode run`, which puts a prompt of several words into quotes."""
    is_quoted = re.fullmatch(r'"(?:[^"\\]|\\.)+"', text, re.DOTALL)
    return text[1:-1].replace('\\"', '"') if is_quoted else text
