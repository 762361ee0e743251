"""Reads Claude Code's transcripts.

They are `projects/<slug>/<session>.jsonl` and `<session>/subagents/agent-<id>.jsonl`, with one
record per line and one content block per assistant record. A person's words are also in queued
prompts, in answers to questions and in reasons for refusing a tool call. Answers and reasons count
only if `toolUseResult` has them, too: Claude Code itself writes this field, while any tool may
write the text of a result. Sidechains are sub-agents. They have files of their own; old versions
wrote them among the lines of the main thread.

A prompt that is typed while the agent works waits in a queue (`enqueue`). Later it starts a turn of
its own (`dequeue`), is given to the running turn (`remove`), or is taken back (`popAll`). A turn of
its own has a record in the user's role. A prompt that the running turn got has an attachment near
the `remove`, or no other record at all.
"""

from collections.abc import Mapping, Sequence
from pathlib import PureWindowsPath
from typing import Any, Self

from memory_assets.harnesses import human_words
from memory_assets.harnesses.asking import ASKING, answers_in
from memory_assets.harnesses.normal_form import (
    Parsed,
    TranscriptReader,
    as_blocks,
    join_blocks,
    text_or_none,
)
from memory_assets.text.patterns import words_beside

_KNOWN = words_beside(__file__)

SYNTHETIC = "<synthetic>"
"""The name of the model where Claude Code itself wrote in the assistant's role."""

MOST_GIVEN = 20
"""Prompts whose attachment may still come after their `remove`; it comes a few records later."""

_CALLS = frozenset({"tool_use", "server_tool_use"})
_BLOCKS = _CALLS | {"text", "thinking", "redacted_thinking"}

_REFUSAL_STARTS, _REFUSAL_ENDS = "The user doesn't want to ", " the user said:"
"""Begin and end of the first line of a result if the person refused the call; a reason follows."""

_REFUSAL_NOTE = "\n\nNote: The user's next message may contain"
_RECAP_HINT = " (disable recaps in /config)"
"""End of the first summaries for a person who was away."""

_MCP = "mcp"
"""Part of the names of all tools that call or read from an MCP server."""


class ClaudeCodeReader(TranscriptReader):
    """Reads one Claude Code file."""

    def __init__(
        self, session_id: str, state: Mapping[str, Any] | None = None, *, is_subagent: bool = False
    ) -> None:
        initial = {"custom_title": None, "is_boundary_open": False, "has_branch": False}
        initial |= {"queue": [], "given_prompts": [], "asked": []}
        super().__init__(session_id, {**initial, **(state or {})})
        self._is_subagent = is_subagent

    @classmethod
    def open(cls, session_id: str, path: str, state: Mapping[str, Any] | None = None) -> Self:
        """Returns a reader for the file at the path, which may be a sub-agent's."""
        return cls(session_id, state, is_subagent=_is_subagent_file(path))

    @staticmethod
    def session_in(record: Mapping[str, Any]) -> str | None:
        """Returns the session that the record names, with the sub-agent's id where it has one."""
        session = record.get("sessionId")
        if not isinstance(session, str):
            return TranscriptReader.session_in(record)
        agent = record.get("agentId") if record.get("isSidechain") else None
        return f"{session}/agent-{agent}" if isinstance(agent, str) else session

    @staticmethod
    def session_of_path(path: str, stem: str, records: Sequence[Mapping[str, Any]]) -> str | None:
        """Returns the session of a sub-agent's file."""
        return _subagent_session(path, stem, records) if _is_subagent_file(path) else None

    def parse(self, record: dict[str, Any]) -> Parsed:
        """Returns the record in normal form."""
        parsers = {
            "assistant": self._assistant,
            "user": self._user,
            "attachment": self._attachment,
            "system": self._system,
            "queue-operation": self._queue_operation,
        }
        parsed = parsers.get(str(record.get("type")), self._other)(record)
        self.add_envelope(parsed, record)
        self.state["has_branch"] |= parsed.branch is not None
        is_subagent = self._is_subagent or record.get("isSidechain")
        if parsed.status == "message" and is_subagent:
            parsed.to_subagent()
        return parsed

    def _assistant(self, record: dict[str, Any]) -> Parsed:
        answer = record["message"]
        blocks = as_blocks(answer["content"])
        block_texts = [block["text"] for block in blocks if block["type"] == "text"]
        texts = list(filter(None, block_texts))
        calls = [block for block in blocks if block["type"] in _CALLS]
        if not texts and not calls:
            return _without_words(blocks)
        named_calls = [(str(c["id"]), str(c["name"]), c.get("input")) for c in calls]
        parsed = self.assistant_message("assistant", texts, named_calls)
        parsed.identity = f"assistant:{answer.get('id') or record.get('uuid')}"
        self.ask(parsed, *(call[1:] for call in named_calls))
        parsed.model = text_or_none(answer.get("model"))
        if record.get("isApiErrorMessage") or parsed.model == SYNTHETIC:
            parsed.author = "injected"
            parsed.model = None
        return parsed

    def _user(self, record: dict[str, Any]) -> Parsed:
        content = record["message"]["content"]
        if not isinstance(content, str) and any(b["type"] == "tool_result" for b in content):
            return self._results(record, content)
        text, images = join_blocks(content)
        identity = f"user:{record.get('timestamp') or record.get('uuid')}"
        parsed = Parsed.user_message("user", text, images, identity)
        if record.get("isCompactSummary"):
            parsed.to_injected()
            parsed.kind = "summary"
        elif _is_automatic(record):
            parsed.to_injected()
            parsed.text = human_words.strip_memories(text)
        if parsed.kind == "summary":
            # Old versions wrote the summary without a boundary line before it.
            parsed.boundary = None if self.state["is_boundary_open"] else "compaction"
            self.state["is_boundary_open"] = False
        return parsed

    def _results(self, record: dict[str, Any], blocks: list[dict[str, Any]]) -> Parsed:
        """Returns the results of one record as one message, with text that is beside them."""
        results = [block for block in blocks if block["type"] == "tool_result"]
        text, image_count = _join_results(results)
        others = [block for block in blocks if block["type"] != "tool_result"]
        beside, images_beside = join_blocks(others)
        parsed = self.tool_result("user/tool_result", results[0].get("tool_use_id"), text)
        parsed.text = human_words.strip_memories(text)
        parsed.content = f"{text}\n{beside}" if beside else text
        call_ids = [str(result.get("tool_use_id")) for result in results]
        parsed.identity = f"result:{','.join(call_ids)}"
        parsed.is_error = any(result.get("is_error") for result in results)
        parsed.image_count = image_count + images_beside
        self._find_words(parsed, record, text, "" if _is_automatic(record) else beside)
        return parsed

    def _find_words(
        self, parsed: Parsed, record: Mapping[str, Any], text: str, beside: str
    ) -> None:
        """Makes the message the owner's if they typed text beside results, answered or refused."""
        typed = human_words.parse_user_text(beside)
        outcome = record.get("toolUseResult")
        is_answer = parsed.tool_name in ASKING
        answers = answers_in(outcome, self.state["asked"]) if is_answer else ""
        reason = _refusal_reason(parsed, text, outcome)
        if beside and typed.voice == "person":
            parsed.to_owner(typed.text, is_user_turn=True)
        elif answers:
            parsed.to_owner(answers)
        elif reason:
            parsed.to_owner(reason, is_user_turn=True)

    def _attachment(self, record: dict[str, Any]) -> Parsed:
        attachment = record["attachment"]
        attachment_type = attachment["type"]
        name = f"attachment/{attachment_type}"
        if attachment_type == "queued_command":
            at = attachment.get("timestamp") or record.get("timestamp")
            text, images = join_blocks(attachment["prompt"])
            if self._has_given(text):
                return Parsed.not_a_message(name, is_known=True)
            parsed = Parsed.user_message(name, text, images, f"queued:{at}")
            is_prompt = attachment.get("commandMode", "prompt") == "prompt"
            if not is_prompt or _is_automatic(attachment) or _is_automatic(record):
                parsed.to_injected()
            return parsed
        parsed = Parsed.not_a_message(name, attachment_type in _KNOWN["attachments"])
        path = text_or_none(attachment.get("filename"))
        if attachment_type == "file" and path:
            parsed.files_read = (path,)
        return parsed

    def _queue_operation(self, record: dict[str, Any]) -> Parsed:
        """Returns the prompt that the running turn gets, unless an attachment was its message."""
        queue: list[list[Any]] = self.state["queue"]
        operation = record.get("operation")
        content = record.get("content")
        without_words = Parsed.not_a_message("queue-operation", is_known=True)
        if operation == "enqueue":
            queue.append([str(content or ""), str(record.get("timestamp")), False])
        elif operation == "popAll":
            queue.clear()
        if operation not in ("dequeue", "remove") or not queue:
            return without_words
        texts = [text for text, _, _ in queue]
        prompt, queued_at, is_attached = queue.pop(texts.index(content) if content in texts else 0)
        message = Parsed.user_message("queue-operation", prompt, 0, f"queued:{queued_at}")
        if operation == "dequeue" or is_attached or message.author != "owner":
            return without_words
        self.state["given_prompts"] = [*self.state["given_prompts"], prompt][-MOST_GIVEN:]
        return message

    def _has_given(self, prompt: str) -> bool:
        """Returns whether a `remove` was the message of an attachment's prompt.

        If the `remove` is still to come, the attachment is the message: the queue notes that.
        """
        given_prompts: list[str] = self.state["given_prompts"]
        if prompt in given_prompts:
            given_prompts.remove(prompt)
            return True
        queue = self.state["queue"]
        waiting = [entry for entry in queue if entry[0] == prompt and not entry[2]]
        for entry in waiting[:1]:
            entry[2] = True
        return False

    def _system(self, record: dict[str, Any]) -> Parsed:
        subtype = record.get("subtype")
        name = f"system/{subtype}"
        if subtype == "compact_boundary":
            self.state["is_boundary_open"] = True
            kept_from = _kept_from(record.get("compactMetadata") or {})
            return Parsed(name, "known", boundary="compaction", kept_from=kept_from)
        content = text_or_none(record.get("content"))
        action = (
            human_words.parse_action(content) if content and subtype == "local_command" else None
        )
        if content and action and action.is_turn:
            return Parsed.user_message(name, content, 0, f"user:{record.get('timestamp')}")
        parsed = Parsed.not_a_message(name, subtype in _KNOWN["system_records"])
        if content and subtype == "away_summary":
            parsed.summary = content.removesuffix(_RECAP_HINT)
        return parsed

    def _other(self, record: dict[str, Any]) -> Parsed:
        record_type = str(record.get("type"))
        parsed = Parsed.not_a_message(record_type, record_type in _KNOWN["records"])
        if record_type == "custom-title":
            self.state["custom_title"] = text_or_none(record.get("customTitle"))
            parsed.title = self.state["custom_title"]
        elif record_type in ("ai-title", "summary"):
            title = record.get("aiTitle" if record_type == "ai-title" else "summary")
            parsed.title = self.state["custom_title"] or text_or_none(title)
        elif record_type == "pr-link" and not self.state["has_branch"]:
            # In a folder with a branch the pull request may be one to another repository.
            parsed.repository = text_or_none(record.get("prRepository"))
        return parsed


def _join_results(results: Sequence[Mapping[str, Any]]) -> tuple[str, int]:
    """Returns the text of all results, and the number of images in them."""
    joined = [join_blocks(result.get("content")) for result in results]
    text = "\n".join(text for text, _ in joined)
    return text, sum(images for _, images in joined)


def _without_words(blocks: Sequence[Mapping[str, Any]]) -> Parsed:
    """Returns a message of an assistant without text and calls: its thinking, or a new type."""
    new_types = [block["type"] for block in blocks if block["type"] not in _BLOCKS]
    if new_types:
        return Parsed(f"assistant/{new_types[0]}", "unknown")
    return Parsed("assistant/thinking", "known")


def _refusal_reason(parsed: Parsed, text: str, outcome: Any) -> str:
    """Returns why the person refused a call of one of Claude Code's own tools, else an empty text.

    What a server of tools returns is never taken for the person's words.
    """
    is_own_tool = parsed.tool_name is not None and _MCP not in parsed.tool_name.lower()
    if not (is_own_tool and parsed.is_error and outcome in (text, f"Error: {text}")):
        return ""
    first_line, _, reason = text.partition("\n")
    if not (first_line.startswith(_REFUSAL_STARTS) and first_line.endswith(_REFUSAL_ENDS)):
        return ""
    reason = reason.partition(_REFUSAL_NOTE)[0].strip()
    return "" if reason.startswith("The user wants to clarify") else reason


def _is_automatic(entry: Mapping[str, Any]) -> bool:
    """Returns whether no person wrote an entry in the user's role.

    The entry is a record or a queued prompt, written by the harness, a schedule or another agent.
    A record with `planContent` puts in an accepted plan, which the assistant wrote.
    """
    origin = entry.get("origin")
    kind = origin.get("kind") if isinstance(origin, Mapping) else None
    return (
        bool(entry.get("isMeta"))
        or entry.get("promptSource") == "system"
        or "planContent" in entry
        or kind not in (None, "human")
    )


def _kept_from(metadata: Mapping[str, Any]) -> str | None:
    """Returns the uuid of the first line that a compaction kept."""
    segment = metadata.get("preservedSegment") or {}
    messages = metadata.get("preservedMessages") or {}
    uuids = messages.get("uuids") or messages.get("allUuids") or [None]
    return text_or_none(segment.get("headUuid")) or text_or_none(uuids[0])


def _is_subagent_file(path: str) -> bool:
    """Returns whether the file is a sub-agent's; in old versions these are not in `subagents/`."""
    return PureWindowsPath(path).name.startswith("agent-")


def _subagent_session(path: str, stem: str, records: Sequence[Mapping[str, Any]]) -> str:
    agents = (f"agent-{record.get('agentId')}" for record in records)
    agent = next((agent for agent in agents if stem.startswith(agent)), stem)
    folders = PureWindowsPath(path).parts[:-1]
    if "subagents" in folders[1:]:
        return f"{folders[folders.index('subagents') - 1]}/{agent}"
    sessions = (record.get("sessionId") for record in records)
    parent = next((session for session in sessions if isinstance(session, str)), None)
    return f"{parent}/{agent}" if parent else agent
