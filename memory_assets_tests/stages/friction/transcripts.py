"""Writes a session of a synthetic week as each harness does: what is said, calls of tools, and their results.

A turn opens with `@`, a clock time (UTC) where one is given, and who speaks (`ROLES`); its text follows on the lines below:

    @ 09:14 mira
    No, use uv, never pip.
    @ run
    uv add fastapi

A turn without a time follows the one before it by some seconds.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

Line = dict[str, Any]

ROLES = {
    "mira": "a turn typed by the developer",
    "agent": "text of the assistant",
    "run": "a shell command",
    "read": "a file that is read: its path",
    "write": "a file that is written: its path, then its content",
    "edit": "a file that is changed: its path, then `-` and `+` lines",
    "out": "the result of the last call",
    "fails": "the result of the last call, an error",
}
CALLS = {"run": "Bash", "read": "Read", "write": "Write", "edit": "Edit"}
NAMES = {
    "claude_code": ("file_path", "old_string", "new_string"),
    "pi": ("path", "oldText", "newText"),
}
"""What a harness calls the path, the old and the new text of an edit."""

_TURN = re.compile(rf"^@ (?:(\d\d:\d\d) )?({'|'.join(ROLES)})$\n", re.MULTILINE)


@dataclass(frozen=True)
class Turn:
    """One turn, dated."""

    at: datetime
    role: str
    text: str


@dataclass(frozen=True)
class Session:
    """One session, dated but not yet in any harness's format."""

    name: str
    harness: str
    project: str
    turns: tuple[Turn, ...]

    @property
    def id(self) -> str:
        """The session's id as the readers give it."""
        digits = uuid5(NAMESPACE_URL, f"memory_assets/sample/{self.name}").hex
        start, version = (digits[:4], "4") if self.harness == "claude_code" else ("019e", "7")
        return str(UUID(start + digits[4:12] + version + digits[13:]))

    @property
    def cwd(self) -> str:
        """The folder that the session works in."""
        return f"/home/mira/code/{self.project}"

    @property
    def path(self) -> str:
        """Where the harness keeps the session, below the folder of all harnesses."""
        started, folder = self.turns[0].at, self.cwd.replace("/", "-")
        return {
            "claude_code": f"claude/projects/{folder}/{self.id}.jsonl",
            "codex": f"codex/sessions/{started:%Y/%m/%d}/rollout-{started:%Y-%m-%dT%H-%M-%S}-{self.id}.jsonl",
            "pi": f"pi/agent/sessions/-{folder}--/{started:%Y-%m-%dT%H-%M-%S}-000Z_{self.id}.jsonl",
        }[self.harness]

    @property
    def content(self) -> bytes:
        """The file of the session."""
        write = {"claude_code": _claude, "codex": _codex, "pi": _pi}[self.harness]
        return b"".join(json.dumps(line).encode() + b"\n" for line in write(self))


def read_turns(body: str, day: date) -> tuple[Turn, ...]:
    """The turns of a session that begins on the day."""
    at, turns = datetime.combine(day, time(), UTC), []
    before, *parts = _TURN.split(body)
    assert not before.strip(), f"no turn opens at: {before[:80]}"
    for clock, role, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        said = text.strip("\n")
        at += timedelta(seconds=2 + len(said) // 70)
        if clock:
            at = datetime.combine(day, time.fromisoformat(clock), UTC)
        turns.append(Turn(at, role, said))
    return tuple(turns)


def _iso(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S.000Z}"


def _given(turn: Turn, names: tuple[str, str, str]) -> dict[str, str]:
    """What the call was given, under the harness's names."""
    (path, old, new), (first, _, rest) = names, turn.text.partition("\n")
    if turn.role == "edit":
        return {path: first, old: _marked(rest, "-"), new: _marked(rest, "+")}
    return {
        "run": {"command": turn.text},
        "read": {path: first},
        "write": {path: first, "content": rest + "\n"},
    }[turn.role]


def _marked(text: str, sign: str) -> str:
    return "\n".join(line[1:] for line in text.split("\n") if line.startswith(sign))


def _claude(session: Session) -> Iterator[Line]:
    call = ""
    for number, turn in enumerate(session.turns):
        call = f"toolu_{session.id}-{number}" if turn.role in CALLS else call
        role = "user" if turn.role in ("mira", "out", "fails") else "assistant"
        content: Any = [{"type": "text", "text": turn.text}]
        if turn.role in CALLS:
            about = {"name": CALLS[turn.role], "input": _given(turn, NAMES["claude_code"])}
            content = [{"type": "tool_use", "id": call, **about}]
        elif turn.role in ("out", "fails"):
            about = {"content": turn.text, "is_error": turn.role == "fails"}
            content = [{"type": "tool_result", "tool_use_id": call, **about}]
        elif turn.role == "mira":
            content = turn.text
        yield {
            "type": role, "message": {"role": role, "content": content}, "uuid": f"{session.id}-{number}",
            "timestamp": _iso(turn.at), "cwd": session.cwd, "sessionId": session.id,
        }  # fmt: skip


def _codex(session: Session) -> Iterator[Line]:
    meta = {"id": session.id, "cwd": session.cwd, "source": "cli"}
    yield {"timestamp": _iso(session.turns[0].at), "type": "session_meta", "payload": meta}
    call = before = ""
    for number, turn in enumerate(session.turns):
        call = f"call_{session.id}-{number}" if turn.role in CALLS else call
        item = _codex_item(turn, call, before)
        yield {"timestamp": _iso(turn.at), "type": "response_item", "payload": item}
        before = turn.role


def _codex_item(turn: Turn, call: str, before: str) -> Line:
    if turn.role in ("mira", "agent"):
        role, kind = ("user", "input_text") if turn.role == "mira" else ("assistant", "output_text")
        return {"type": "message", "role": role, "content": [{"type": kind, "text": turn.text}]}
    path, _, rest = turn.text.partition("\n")
    if turn.role in ("write", "edit"):
        what = f"*** Update File: {path}\n@@\n{rest}"
        if turn.role == "write":
            what = f"*** Add File: {path}\n" + "\n".join(f"+{line}" for line in rest.split("\n"))
        patch = f"*** Begin Patch\n{what}\n*** End Patch\n"
        return {"type": "custom_tool_call", "call_id": call, "name": "apply_patch", "input": patch}
    if turn.role in CALLS:
        command = turn.text if turn.role == "run" else f"sed -n '1,200p' {path}"
        about = {"name": "exec_command", "arguments": json.dumps({"cmd": command})}
        return {"type": "function_call", **about, "call_id": call}
    failed = int(turn.role == "fails")
    if before in ("write", "edit"):
        output = json.dumps({"output": turn.text, "metadata": {"exit_code": failed}})
        return {"type": "custom_tool_call_output", "call_id": call, "output": output}
    output = f"Process exited with code {failed}\nOutput:\n{turn.text}"
    return {"type": "function_call_output", "call_id": call, "output": output}


def _pi(session: Session) -> Iterator[Line]:
    about = {"timestamp": _iso(session.turns[0].at), "cwd": session.cwd}
    yield {"type": "session", "version": 3, "id": session.id, **about}
    call = tool = ""
    for number, turn in enumerate(session.turns):
        message: Line = {"role": "assistant", "content": [{"type": "text", "text": turn.text}]}
        if turn.role in CALLS:
            call, tool = f"toolu_{session.id}-{number}", CALLS[turn.role].lower()
            arguments = _given(turn, NAMES["pi"])
            block = {"type": "toolCall", "id": call, "name": tool, "arguments": arguments}
            message["content"] = [block]
        elif turn.role in ("out", "fails"):
            message |= {"role": "toolResult", "toolCallId": call, "toolName": tool}
            message["isError"] = turn.role == "fails"
        elif turn.role == "mira":
            message["role"] = "user"
        parent = f"{session.id}-{number - 1}" if number else None
        yield {
            "type": "message", "id": f"{session.id}-{number}", "parentId": parent, "timestamp": _iso(turn.at),
            "message": {**message, "timestamp": round(turn.at.timestamp() * 1000)},
        }  # fmt: skip
