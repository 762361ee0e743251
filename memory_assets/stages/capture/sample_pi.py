"""Writes a dated script as pi (version 3) would have: a tree of entries, one for the text and calls of an answer."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from memory_assets.stages.capture.sample_script import ASSISTANT, CALLS, PIXEL, Script, Turn, digest, iso, joined, renamed

Line = dict[str, Any]
MODEL = "claude-sonnet-5"

TOOLS = {"run": "bash", "read": "read", "write": "write", "edit": "edit", "task": "task"}
NAMES = {"old": "oldText", "new": "newText"}


def pi_files(script: Script) -> dict[str, bytes]:
    """Returns the file of a session, by its path below the folder of all harnesses."""
    folder = "--" + script.cwd.strip("/").replace("/", "-") + "--"
    started = iso(script.turns[0].at).replace(":", "-").replace(".", "-")
    return {f"pi/agent/sessions/{folder}/{started}_{script.session_id}.jsonl": joined(_lines(script))}


def _lines(script: Script) -> list[Line]:
    writer = _Writer(script)
    started = script.turns[0].at - timedelta(seconds=1)
    writer.add("model_change", started, provider="anthropic", modelId=MODEL)
    writer.add("thinking_level_change", started, thinkingLevel="medium")
    for turns in _answers(script.turns):
        writer.write(turns)
    head = {"type": "session", "version": 3, "id": script.session_id, "timestamp": iso(started), "cwd": script.cwd}
    return [head, *writer.entries]


def _answers(turns: Sequence[Turn]) -> list[list[Turn]]:
    """Returns the turns with those of one answer of the assistant taken together."""
    groups: list[list[Turn]] = []
    for turn in turns:
        if groups and turn.role in ASSISTANT and groups[-1][-1].role in ASSISTANT:
            groups[-1].append(turn)
        else:
            groups.append([turn])
    return groups


class _Writer:
    """Keeps the leaf of the tree, the marks and the last call."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.entries: list[Line] = []
        self.leaf: str | None = None
        self.marks: dict[str, str | None] = {}
        self.awaited: list[str] = []
        self.call = self.tool = ""

    def add(self, kind: str, at: datetime, **content: Any) -> None:
        """Appends an entry below the present leaf, which it then is."""
        entry_id = digest(self.script.name, len(self.entries), "entry")[:8]
        self.entries.append({"type": kind, "id": entry_id, "parentId": self.leaf, "timestamp": iso(at), **content})
        self.leaf = entry_id
        self.marks |= dict.fromkeys(self.awaited, entry_id)
        self.awaited = []

    def write(self, turns: Sequence[Turn]) -> None:
        """Appends the entry of one turn, or of one whole answer."""
        turn = turns[0]
        if turn.role in ASSISTANT:
            self._say(turn.at, role="assistant", content=[self._block(t) for t in turns], **self._model(turns))
        elif turn.role == "mark":
            self.awaited.append(turn.detail)
        elif turn.role == "title":
            self.add("session_info", turn.at, name=turn.text)
        elif turn.role == "back":
            left, self.leaf = self.leaf, self.marks[turn.detail]
            self.add("branch_summary", turn.at, fromId=left, summary=turn.text)
        elif turn.role == "compaction":
            self.add("compaction", turn.at, summary=turn.text, firstKeptEntryId=self.marks[turn.detail], tokensBefore=151_208)
        else:
            self._say(turn.at, **self._message(turn))

    def _say(self, at: datetime, **message: Any) -> None:
        self.add("message", at, message={**message, "timestamp": round(at.timestamp() * 1000)})

    def _message(self, turn: Turn) -> Line:
        if turn.role == "shell":
            command, _, output = turn.text.partition("\n")
            ended = {"exitCode": 0, "cancelled": False, "truncated": False}
            return {"role": "bashExecution", "command": command, "output": output, **ended}
        text = [{"type": "text", "text": turn.text}]
        if turn.role in ("out", "fails"):
            about = {"role": "toolResult", "toolCallId": self.call, "toolName": self.tool}
            return {**about, "content": text, "isError": turn.role == "fails"}
        picture = [{"type": "image", "data": PIXEL, "mimeType": "image/png"}] if turn.detail else []
        return {"role": "user", "content": [*text, *picture]}

    def _block(self, turn: Turn) -> Line:
        if turn.role == "agent":
            return {"type": "text", "text": turn.text}
        if turn.role == "thinks":
            return {"type": "thinking", "thinking": turn.text}
        self.call = f"toolu_01{digest(self.script.name, len(self.entries), turn.text)[:22]}"
        self.tool = TOOLS[turn.role]
        return {"type": "toolCall", "id": self.call, "name": self.tool, "arguments": renamed(turn, NAMES)}

    @staticmethod
    def _model(turns: Sequence[Turn]) -> Line:
        output = 20 + sum(len(turn.text) for turn in turns) // 4
        usage = {"input": 6, "output": output, "cacheRead": 31_785, "cacheWrite": 0, "totalTokens": 31_791 + output}
        stop = "toolUse" if turns[-1].role in CALLS else "stop"
        return {
            "api": "anthropic-messages",
            "provider": "anthropic",
            "model": MODEL,
            "usage": usage,
            "stopReason": stop,
        }
