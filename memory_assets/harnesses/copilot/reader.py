"""Reads Copilot CLI's transcripts: `session-state/<session>/events.jsonl`.

Each line is an event; a resumed session is appended. Sub-agents are in the same file, their events
name the agent. Of a prompt, `content` is what a person sees: what hooks add is in
`transformedContent` alone, and in the events of hooks. The title is in `workspace.yaml` beside it.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PureWindowsPath
from typing import Any, Self

from memory_assets.harnesses.human_words import strip_memories
from memory_assets.harnesses.normal_form import Parsed, TranscriptReader, parent_in, text_or_none
from memory_assets.text.moments import event_time
from memory_assets.text.patterns import words_beside

_KNOWN = words_beside(__file__)
_TITLE = re.compile(r"^name: [\"']?(.+?)[\"']?$", re.MULTILINE)


class CopilotReader(TranscriptReader):
    """Reads one Copilot CLI file."""

    def __init__(
        self, session_id: str, state: Mapping[str, Any] | None = None, *, title: str | None = None
    ) -> None:
        super().__init__(session_id, {"title": None, **(state or {})})
        self._title = title

    @classmethod
    def open(cls, session_id: str, path: str, state: Mapping[str, Any] | None = None) -> Self:
        """Returns a reader for the file at the path, with the title that is beside it."""
        return cls(session_id, state, title=_title_beside(Path(path)))

    @staticmethod
    def session_in(record: Mapping[str, Any]) -> str | None:
        """Returns the session that begins with the event."""
        data = record.get("data")
        return text_or_none(data.get("sessionId")) if isinstance(data, Mapping) else None

    @staticmethod
    def session_of_path(path: str, stem: str, records: Sequence[Mapping[str, Any]]) -> str | None:
        """Returns the session that the first event begins, else the one that the folder names."""
        starts = (record for record in records if record.get("type") == "session.start")
        named = next(filter(None, map(CopilotReader.session_in, starts)), None)
        folder = PureWindowsPath(path).parent.name
        return named or (folder if stem == "events" else None)

    def parse(self, record: dict[str, Any]) -> Parsed:
        """Returns the record in normal form."""
        parsers = {
            "session.start": self._start,
            "session.resume": self._start,
            "user.message": self._user,
            "assistant.message": self._assistant,
            "tool.user_requested": self._user_call,
            "tool.execution_complete": self._result,
            "human_response.recorded": self._answer,
            "session.compaction_complete": self._compaction,
        }
        record_type = str(record.get("type"))
        parser = parsers.get(record_type)
        family = record_type.partition(".")[0]
        parsed = Parsed.not_a_message(record_type, family in _KNOWN["families"])
        if parser:
            parsed = parser(record_type, record["data"])
        parsed.event_at = event_time(record.get("timestamp"))
        parsed.native_id = text_or_none(record.get("id"))
        parsed.parent_id = parent_in(record, "parentId")
        if parsed.status == "message" and parsed.identity is None:
            parsed.identity = f"{record_type}:{record.get('id')}"
        if parsed.status == "message" and record.get("agentId"):
            parsed.to_subagent()
        if self._title != self.state["title"]:
            parsed.title = self.state["title"] = self._title
        return parsed

    def _start(self, name: str, data: dict[str, Any]) -> Parsed:
        context = data.get("context") or {}
        return Parsed(
            name,
            "known",
            cwd=text_or_none(context.get("cwd")),
            branch=text_or_none(context.get("branch")),
            repository=text_or_none(context.get("repository")),
            version=text_or_none(data.get("copilotVersion")),
            parent_session_id=text_or_none(data.get("detachedFromSpawningParentSessionId")),
        )

    def _user(self, name: str, data: dict[str, Any]) -> Parsed:
        kinds = [str(given.get("mimeType")) for given in data.get("attachments") or ()]
        images = sum(kind.startswith("image/") for kind in kinds)
        parsed = Parsed.user_message(name, data["content"], images)
        # Skills and other agents are sources; a prompt that a person typed has none.
        if data.get("source") or data.get("isAutopilotContinuation"):
            parsed.to_injected()
        return parsed

    def _assistant(self, name: str, data: dict[str, Any]) -> Parsed:
        requests = data.get("toolRequests") or ()
        calls = [(str(r["toolCallId"]), str(r["name"]), r.get("arguments")) for r in requests]
        texts = list(filter(None, [data["content"]]))
        if not texts and not calls:
            return Parsed(name, "known")
        parsed = self.assistant_message(name, texts, calls)
        parsed.model = text_or_none(data.get("model"))
        return parsed

    def _user_call(self, name: str, data: dict[str, Any]) -> Parsed:
        self.remember_call(data["toolCallId"], data["toolName"], data.get("arguments"))
        return Parsed(name, "known")

    def _result(self, name: str, data: dict[str, Any]) -> Parsed:
        result = data.get("result") or {}
        failure = data.get("error") or {}
        parsed = self.tool_result(name, data["toolCallId"], result or failure.get("message"))
        parsed.text = strip_memories(str(parsed.content))
        has_failed = (data.get("shellExecution") or {}).get("exitCode") not in (0, None)
        parsed.is_error = not data["success"] or has_failed
        return parsed

    def _answer(self, name: str, data: dict[str, Any]) -> Parsed:
        """Returns a person's answer to a question, or their words about a plan."""
        response = data["response"]
        fields = response.get("content") or {}
        texts = [response.get("answer"), response.get("feedback"), *fields.values()]
        text = "\n".join(filter(text_or_none, texts))
        if data["actor"] != "human_response" or not text:
            return Parsed(name, "known")
        return Parsed.message(name, "owner", "text", text)

    def _compaction(self, name: str, data: dict[str, Any]) -> Parsed:
        summary = text_or_none(data.get("summaryContent"))
        if not data["success"] or summary is None:
            return Parsed(name, "known")
        return Parsed.message(name, "injected", "summary", summary, boundary="compaction")


def _title_beside(path: Path) -> str | None:
    """Returns the session's title; None where there is no readable file of it."""
    try:
        match = _TITLE.search(path.with_name("workspace.yaml").read_text("utf-8", "replace"))
    except OSError:
        return None
    return match[1] if match else None
