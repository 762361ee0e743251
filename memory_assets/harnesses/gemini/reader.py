"""Reads Gemini CLI's transcripts: `tmp/<project>/chats/session-<time>-<id>.jsonl`.

A sub-agent's file is `chats/<session>/<id>.jsonl`; its header says so, too. The client replays the
file: a record with the id of an earlier one replaces it, `$set` with `messages` replaces all
messages, and `$rewindTo` removes a message and those after it. Here each record gives only what the
earlier ones with its id lacked, so that nothing is read twice and ids stay. `$set` repeats what
other records have, with the exception of the summary that a compression puts in place of older
messages.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PureWindowsPath
from typing import Any, Self

from memory_assets.harnesses.human_words import strip_memories
from memory_assets.harnesses.normal_form import (
    REMEMBERED_CALLS,
    Parsed,
    TranscriptReader,
    as_blocks,
    text_of_response,
    text_or_none,
)
from memory_assets.text.moments import event_time
from memory_assets.text.patterns import words_beside

KNOWN = words_beside(__file__)
SNAPSHOT = "<state_snapshot>"
"""The summary of a compression has this tag."""

_FOLDER_FILE = ".project_root"
"""File beside `chats` that names the working folder, which no record does."""

_CONTEXT = "untrusted_context"
"""Tag around the output of tools."""


class GeminiReader(TranscriptReader):
    """Reads one file of Gemini CLI."""

    def __init__(
        self, session_id: str, state: Mapping[str, Any] | None = None, *, parent: str | None = None
    ) -> None:
        # Ids of messages, of those whose text was read, of calls that were read, of summaries.
        initial = {"ids": [], "texts": [], "called": [], "snapshots": []}
        super().__init__(session_id, {**initial, **(state or {})})
        self._parent = parent

    @classmethod
    def open(cls, session_id: str, path: str, state: Mapping[str, Any] | None = None) -> Self:
        """Returns a reader for the file at the path, which may be a sub-agent's."""
        return cls(session_id, state, parent=_parent_session(path))

    @staticmethod
    def session_in(record: Mapping[str, Any]) -> str | None:
        """Returns the session that a header names."""
        return text_or_none(record.get("sessionId")) if "projectHash" in record else None

    @staticmethod
    def session_of_path(path: str, stem: str, records: Sequence[Mapping[str, Any]]) -> str | None:
        """Returns the session of a sub-agent's file."""
        parent = _parent_session(path)
        kinds = (record.get("kind") for record in records if "projectHash" in record)
        return f"{parent}/{stem}" if parent and _is_subagent(next(kinds, None), parent) else None

    @staticmethod
    def folder_of_path(path: str) -> str:
        """Returns the working folder that a file beside the transcripts names."""
        for folder in Path(path).parents[1:3]:  # a sub-agent's file is one level deeper
            with suppress(OSError, ValueError):
                return (folder / _FOLDER_FILE).read_text("utf-8").strip()
        return ""

    def parse(self, record: dict[str, Any]) -> Parsed:
        """Returns what the record adds, in normal form."""
        parsed = self._parse(record)
        parsed.native_id = text_or_none(record.get("id"))
        parsed.event_at = event_time(record.get("timestamp"))
        if parsed.native_id and parsed.native_id not in self.state["ids"]:
            self._remember("ids", [parsed.native_id])
        if parsed.status == "message" and _is_subagent(self.state.get("kind"), self._parent):
            parsed.to_subagent()
        return parsed

    def _parse(self, record: dict[str, Any]) -> Parsed:
        record_type = record.get("type")
        if record_type == "user":
            return self._user(record)
        if record_type == "gemini":
            return self._answer(record)
        if "$set" in record:
            return self._change(record["$set"])
        if "$rewindTo" in record:
            return Parsed("$rewindTo", "known", undone_turns=self._rewind(record["$rewindTo"]))
        if "projectHash" in record:
            self.state["kind"] = text_or_none(record.get("kind"))
            is_subagent = _is_subagent(self.state["kind"], self._parent)
            parent = self._parent if is_subagent else None
            return Parsed("header", "known", parent_session_id=parent)
        return Parsed.not_a_message(str(record_type), record_type in KNOWN["records"])

    def _user(self, record: dict[str, Any]) -> Parsed:
        parts = _parts_of(record["content"])
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if results:
            return self._results(results, _text_of(parts))
        # What the client adds to the words, such as files that they name, is in `content` only.
        typed = _parts_of(record.get("displayContent")) or parts
        images = sum("inlineData" in part for part in parts)
        parsed = Parsed.user_message("user", _text_of(typed), images, f"gemini:{record['id']}")
        self.remember_turn(parsed, record["id"])
        return parsed

    def _rewind(self, id: str) -> int:
        """Takes back the message and those after it; returns the number of turns among them."""
        ids = self.state["ids"]
        first = ids.index(id) if id in ids else len(ids)
        self.state["ids"] = ids[:first]
        return self.undo_from([id, *ids[first:]])

    def _results(self, results: Sequence[Mapping[str, Any]], beside: str) -> Parsed:
        """Returns the results of one record as one message.

        Text beside them counts as theirs, because older clients write there what a tool returned.
        """
        outputs = [_output_of(result.get("response")) for result in results]
        content = "\n".join(filter(None, [*outputs, beside]))
        parsed = self.tool_result("user/functionResponse", results[0].get("id"), content)
        parsed.text = strip_memories(content)
        parsed.tool_name = parsed.tool_name or text_or_none(results[0].get("name"))
        parsed.identity = f"gemini-result:{','.join(str(result.get('id')) for result in results)}"
        parsed.is_error = any("error" in (result.get("response") or {}) for result in results)
        return parsed

    def _answer(self, record: dict[str, Any]) -> Parsed:
        """Returns the text and the calls that earlier records with the id did not have."""
        id = record["id"]
        text = _text_of(_parts_of(record["content"]))
        calls = [
            (str(call["id"]), str(call["name"]), call.get("args"))
            for call in record.get("toolCalls") or ()
            if call["id"] not in self.state["called"]
        ]
        texts = [text] if text and id not in self.state["texts"] else []
        if not texts and not calls:
            return Parsed("gemini", "known")
        self._remember("texts", [id] if texts else [])
        self._remember("called", [call_id for call_id, _, _ in calls])
        parsed = self.assistant_message("gemini", texts, calls)
        # With the text alone as content, a text that is written together with calls keeps its id.
        parsed.content = text if texts else parsed.content
        parsed.identity = f"gemini:{id}"
        parsed.model = text_or_none(record.get("model"))
        return parsed

    def _change(self, changes: dict[str, Any]) -> Parsed:
        parsed = Parsed("$set", "known", title=text_or_none(changes.get("summary")))
        for message in changes.get("messages") or ():
            text = _text_of(_parts_of(message["content"])).strip()
            is_new = message["id"] not in self.state["snapshots"]
            if SNAPSHOT in text and message["type"] == "user" and is_new:
                self.state["snapshots"].append(message["id"])
                identity = f"gemini:{message['id']}"
                summary = {"identity": identity, "boundary": "compaction"}
                return Parsed.message("$set", "injected", "summary", text, **summary)
        return parsed

    def _remember(self, name: str, ids: Sequence[str]) -> None:
        self.state[name] = [*self.state[name], *ids][-REMEMBERED_CALLS:]


def _is_subagent(kind: str | None, parent: str | None) -> bool:
    """Returns whether a file is a sub-agent's: its header decides, without its kind the path."""
    return kind == "subagent" if kind else parent is not None


def _parent_session(path: str) -> str | None:
    """Returns the session whose sub-agent the file at the path would be; None elsewhere."""
    folders = PureWindowsPath(path).parts[:-1]
    return folders[-1] if folders[-2:-1] == ("chats",) else None


def _parts_of(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, Mapping):
        return [dict(content)]
    return as_blocks(content) or []


def _text_of(parts: Sequence[Mapping[str, Any]]) -> str:
    texts = (text_or_none(part.get("text")) for part in parts if not part.get("thought"))
    return "\n".join(filter(None, texts))


def _output_of(response: Any) -> str:
    """Returns the output or the error of a call, without the tag around it."""
    text = text_of_response(response)
    return text.strip().removeprefix(f"<{_CONTEXT}>").removesuffix(f"</{_CONTEXT}>").strip()
