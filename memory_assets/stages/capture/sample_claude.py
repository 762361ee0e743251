"""Writes a dated script as Claude Code would have.

One record per content block, a chain of uuids, sub-agents in files of their own; a fork repeats its parent's records.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from memory_assets.stages.capture.sample_script import ASSISTANT, PIXEL, Script, Turn, digest, iso, joined, renamed

Line = dict[str, Any]
MODEL, VERSION = "claude-opus-4-8", "2.1.159"

TOOLS = {"run": "Bash", "read": "Read", "write": "Write", "edit": "Edit", "task": "Task"}
NAMES = {"path": "file_path", "old": "old_string", "new": "new_string", "title": "description"}


def claude_files(script: Script, scripts: Mapping[str, Script]) -> dict[str, bytes]:
    """Returns the file of a session, or the two of a sub-agent, by path below the folder of all harnesses."""
    writer = _Writer(script, scripts)
    if not script.subagent_of:
        return {_path(script): joined(writer.session())}
    parent = scripts[script.subagent_of]
    base = f"{_path(parent).removesuffix('.jsonl')}/subagents/agent-{script.agent_id}"
    meta = {"agentType": script.agent_type, "description": script.title}
    return {f"{base}.jsonl": joined(writer.conversation()), f"{base}.meta.json": orjson.dumps(meta)}


def _path(script: Script) -> str:
    return f"claude/projects/{script.cwd.replace('/', '-')}/{script.session_id}.jsonl"


class _Writer:
    """Keeps what one record has to know of those before it."""

    def __init__(self, script: Script, scripts: Mapping[str, Script]) -> None:
        self.script, self.scripts = script, scripts
        self.session_id = scripts[script.subagent_of].session_id if script.subagent_of else script.session_id
        self.parent: str | None = None
        self.call = self.message = ""

    def session(self) -> list[Line]:
        """Returns the whole file of a main session."""
        own = {"sessionId": self.session_id}
        first = {"messageId": self._uuid(self.script.name, 0)}
        snapshot = {**first, "trackedFileBackups": {}, "timestamp": iso(self.script.turns[0].at)}
        typed = [turn.text for turn in self.script.turns if turn.role == "mira"]
        return [
            {"type": "permission-mode", "permissionMode": "default", **own},
            {"type": "file-history-snapshot", **first, "snapshot": snapshot, "isSnapshotUpdate": False},
            *self.conversation(),
            {"type": "ai-title", "aiTitle": self.script.title, **own},
            {"type": "last-prompt", "lastPrompt": typed[-1][:200], **own},
        ]

    def conversation(self) -> list[Line]:
        """Returns the records of the turns, those copied from another session first."""
        source = self.scripts[self.script.fork_of] if self.script.fork_of else None
        copied = [(source.name, i, turn) for i, turn in enumerate(source.turns[: self.script.copies])] if source else []
        own = [(self.script.name, i, turn) for i, turn in enumerate(self.script.turns)]
        return [line for seed, i, turn in (*copied, *own) for line in self._records(seed, i, turn)]

    def _records(self, seed: str, number: int, turn: Turn) -> Iterator[Line]:
        if turn.role == "title":
            yield {"type": "custom-title", "customTitle": turn.text, "sessionId": self.session_id}
        elif turn.role == "compaction":
            yield from self._compaction(seed, number, turn)
        elif turn.role in ASSISTANT:
            yield self._record("assistant", seed, number, turn, message=self._assistant(seed, number, turn))
        elif turn.role in ("out", "fails"):
            yield self._tool_result(seed, number, turn)
        elif turn.role == "shell":
            command, _, output = turn.text.partition("\n")
            yield self._user(seed, number, turn, f"<bash-input>{command}</bash-input>")
            printed = f"<bash-stdout>{output}</bash-stdout><bash-stderr></bash-stderr>"
            yield self._user(seed, f"{number}+", turn, printed)
        elif turn.role == "aside":
            yield self._user(seed, number, turn, turn.text, isMeta=True)
        else:
            yield self._user(seed, number, turn, self._typed(turn))

    def _typed(self, turn: Turn) -> str | list[Line]:
        if not turn.detail:
            return turn.text
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        return [{"type": "text", "text": turn.text}, {"type": "image", "source": source}]

    def _user(self, seed: str, number: object, turn: Turn, content: str | list[Line], **extra: Any) -> Line:
        return self._record("user", seed, number, turn, message={"role": "user", "content": content}, **extra)

    def _tool_result(self, seed: str, number: int, turn: Turn) -> Line:
        failed = turn.role == "fails"
        content = [{"tool_use_id": self.call, "type": "tool_result", "content": turn.text, "is_error": failed}]
        extra = {"toolUseResult": {"stdout": turn.text, "stderr": "", "interrupted": False, "isImage": False}}
        return self._user(seed, number, turn, content, sourceToolAssistantUUID=self.parent, **extra)

    def _assistant(self, seed: str, number: int, turn: Turn) -> Line:
        self.message = self.message or f"msg_01{digest(seed, number, 'message')[:22]}"
        head = {"model": MODEL, "id": self.message, "type": "message", "role": "assistant"}
        content = [self._block(seed, number, turn)]
        stop = "end_turn" if turn.role == "agent" else "tool_use"
        usage = {"input_tokens": 6, "cache_read_input_tokens": 31_785, "output_tokens": 20 + len(turn.text) // 4}
        return head | {"content": content, "stop_reason": stop, "stop_sequence": None, "usage": usage}

    def _block(self, seed: str, number: int, turn: Turn) -> Line:
        if turn.role == "agent":
            return {"type": "text", "text": turn.text}
        if turn.role == "thinks":
            return {"type": "thinking", "thinking": turn.text, "signature": digest(seed, number, "signature")}
        self.call = f"toolu_01{digest(seed, number, 'call')[:22]}"
        given = renamed(turn, NAMES) | ({"subagent_type": turn.detail} if turn.role == "task" else {})
        return {"type": "tool_use", "id": self.call, "name": TOOLS[turn.role], "input": given}

    def _compaction(self, seed: str, number: int, turn: Turn) -> Iterator[Line]:
        logical, self.parent = self.parent, None
        about = {"trigger": turn.detail or "auto", "preTokens": 167_412}
        yield self._record(
            "system", seed, number, turn, subtype="compact_boundary", content="Conversation compacted",
            logicalParentUuid=logical, isMeta=False, level="info", compactMetadata=about,
        )  # fmt: skip
        intro = "This session is being continued from a previous conversation that ran out of context. "
        summary = intro + "The conversation is summarized below:\n" + turn.text
        yield self._user(seed, f"{number}+", turn, summary, isVisibleInTranscriptOnly=True, isCompactSummary=True)

    def _record(self, kind: str, seed: str, number: object, turn: Turn, **extra: Any) -> Line:
        uuid, parent = self._uuid(seed, number), self.parent
        self.parent = uuid
        if kind != "assistant":
            self.message = ""
        agent = {"agentId": self.script.agent_id} if self.script.subagent_of else {}
        return {
            "parentUuid": parent, "isSidechain": bool(self.script.subagent_of), **agent, "type": kind, **extra,
            "uuid": uuid, "timestamp": iso(turn.at), "userType": "external", "entrypoint": "cli",
            "cwd": self.script.cwd, "sessionId": self.session_id, "version": VERSION, "gitBranch": self.script.branch,
        }  # fmt: skip

    @staticmethod
    def _uuid(seed: str, number: object) -> str:
        digits = digest(seed, number, "record")
        return f"{digits[:8]}-{digits[8:12]}-4{digits[12:15]}-a{digits[15:18]}-{digits[18:30]}"
