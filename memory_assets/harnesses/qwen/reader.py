"""Reads Qwen Code's transcripts.

They are `projects/<slug>/chats/<session>.jsonl`, to which a resumed session is appended, and
`projects/<slug>/subagents/<session>/agent-<id>.jsonl`. `provenance` says who speaks; releases
before 0.20 have none. What hooks add to a prompt is one of its parts; `displayText` has the
person's words alone. Tools that are loaded on demand are called by the tool `tool_call`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from memory_assets.harnesses.asking import ASKING
from memory_assets.harnesses.human_words import strip_memories
from memory_assets.harnesses.normal_form import (
    Parsed,
    TranscriptReader,
    text_of_response,
    text_or_none,
)
from memory_assets.text.patterns import words_beside

_KNOWN = words_beside(__file__)

BRIDGE = "tool_call"
"""The tool that calls another one."""


class QwenReader(TranscriptReader):
    """Reads one Qwen Code file."""

    def __init__(self, session_id: str, state: Mapping[str, Any] | None = None) -> None:
        super().__init__(session_id, {"asked": [], **(state or {})})

    @staticmethod
    def session_in(record: Mapping[str, Any]) -> str | None:
        """Returns the session that the record names, with the sub-agent's id where it has one."""
        session = text_or_none(record.get("sessionId"))
        agent = text_or_none(record.get("agentId"))
        return f"{session}/agent-{agent}" if session and agent else session

    @staticmethod
    def session_of_path(path: str, stem: str, records: Sequence[Mapping[str, Any]]) -> str | None:
        """Returns the session of a sub-agent's file."""
        is_subagent = stem.startswith("agent-")
        sessions = map(QwenReader.session_in, records) if is_subagent else ()
        return next(filter(None, sessions), None)

    def parse(self, record: dict[str, Any]) -> Parsed:
        """Returns the record in normal form."""
        parsers = {
            "user": self._user,
            "assistant": self._assistant,
            "tool_result": self._result,
            "system": self._system,
        }
        record_type = str(record.get("type"))
        parser = parsers.get(record_type)
        parsed = parser(record) if parser else Parsed.not_a_message(record_type, is_known=False)
        self.add_envelope(parsed, record)
        origin = record.get("forkedFrom") or {}
        parsed.parent_session_id = parsed.parent_session_id or text_or_none(origin.get("sessionId"))
        if parsed.status == "message" and record.get("agentId"):
            parsed.to_subagent()
        return parsed

    def _user(self, record: dict[str, Any]) -> Parsed:
        content, images = _content(record)
        payload = record.get("systemPayload") or {}
        typed = text_or_none(payload.get("displayText")) or content
        identity = f"user:{record.get('timestamp')}"
        parsed = Parsed.user_message("user", typed, images, identity)
        is_prompt = record.get("subtype") in (None, "mid_turn_user_message")
        if not is_prompt or record.get("provenance", "real_user") != "real_user":
            parsed.to_injected()
            parsed.text = strip_memories(content)
        return parsed

    def _assistant(self, record: dict[str, Any]) -> Parsed:
        parts = (record.get("message") or {}).get("parts") or []
        texts = [part["text"] for part in parts if part.get("text") and not part.get("thought")]
        calls = [_call(part["functionCall"]) for part in parts if "functionCall" in part]
        if not texts and not calls:
            return Parsed("assistant/thinking", "known")
        parsed = self.assistant_message("assistant", texts, calls)
        parsed.identity = f"assistant:{record.get('uuid')}"
        parsed.model = text_or_none(record.get("model"))
        self.ask(parsed, *(call[1:] for call in calls))
        return parsed

    def _result(self, record: dict[str, Any]) -> Parsed:
        parts = record["message"]["parts"]
        responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
        text = "\n".join(text_of_response(response.get("response")) for response in responses)
        call_id = str(responses[0].get("id"))
        parsed = self.tool_result("tool_result", call_id, text)
        parsed.text = strip_memories(text)
        parsed.identity = f"result:{call_id}"
        outcome = record.get("toolCallResult") or {}
        display = outcome.get("resultDisplay")
        display = display if isinstance(display, Mapping) else {}
        has_failed = display.get("exitCode") not in (0, None)
        parsed.is_error = outcome.get("status") == "error" or has_failed
        # Qwen Code itself writes the answers there; any tool may write the text of a result.
        answers = display.get("answers") if parsed.tool_name in ASKING else None
        if answers:
            parsed.to_owner("\n".join(str(answer["answer"]) for answer in answers))
        return parsed

    def _system(self, record: dict[str, Any]) -> Parsed:
        subtype = record.get("subtype")
        name = f"system/{subtype}"
        payload = record.get("systemPayload") or {}
        if subtype == "chat_compression":
            summary, _ = _content({"message": payload["compressedHistory"][0]})
            parsed = Parsed.message(name, "injected", "summary", summary, boundary="compaction")
            parsed.identity = f"compression:{record.get('uuid')}"
            return parsed
        parsed = Parsed.not_a_message(name, subtype in _KNOWN["records"])
        if subtype == "custom_title":
            parsed.title = text_or_none(payload.get("customTitle"))
        return parsed


def _content(record: Mapping[str, Any]) -> tuple[str, int]:
    """Returns the texts of the parts of a record's message, and the number of images in it."""
    parts = record["message"]["parts"]
    texts = [part["text"] for part in parts if part.get("text")]
    return "\n".join(texts), sum("inlineData" in part for part in parts)


def _call(call: Mapping[str, Any]) -> tuple[str, str, Any]:
    """Returns id, tool and arguments of a call, also of one through the bridge."""
    name = str(call["name"])
    arguments = call.get("args")
    if name == BRIDGE and isinstance(arguments, Mapping) and "name" in arguments:
        name = str(arguments["name"])
        arguments = arguments.get("arguments")
    return str(call.get("id")), name, arguments
