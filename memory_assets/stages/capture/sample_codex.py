"""Writes a dated script as Codex would have.

Two interleaved logs, calls and results paired by id; a fork begins with its parent's records, at the time of the fork.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson

from memory_assets.stages.capture.sample_script import CALLS, PIXEL, Script, Turn, arguments, digest, iso, joined

Line = dict[str, Any]
MODEL, VERSION = "gpt-5.6-sol", "0.142.0"


def codex_files(script: Script, scripts: Mapping[str, Script]) -> dict[str, bytes]:
    """Returns the file of a session, by its path below the folder of all harnesses."""
    started = _started_at(script)
    name = f"rollout-{started:%Y-%m-%dT%H-%M-%S}-{script.session_id}.jsonl"
    return {f"codex/sessions/{started:%Y/%m/%d}/{name}": joined(_lines(script, scripts))}


def _lines(script: Script, scripts: Mapping[str, Script]) -> list[Line]:
    started = _started_at(script)
    lines = [_line(started, "session_meta", _meta(script, scripts))]
    if script.fork_of:
        parent = scripts[script.fork_of]
        lines.append(_line(started, "session_meta", _meta(parent, scripts)))
        copied = _turns(parent, parent.turns[: script.copies])
        lines += [{**line, "timestamp": iso(started)} for line in copied]
    return [*lines, *_turns(script, script.turns)]


def _started_at(script: Script) -> datetime:
    """Returns when the session was opened, a little before its first turn; a fork copies its beginning at that moment."""
    return script.turns[0].at - timedelta(seconds=2)


def _meta(script: Script, scripts: Mapping[str, Script]) -> Line:
    source: Any = "cli"
    link = {}
    if script.fork_of:
        parent = scripts[script.fork_of].session_id
        link = {"forked_from_id": parent}
        spawn = {"parent_thread_id": parent, "depth": 1, "agent_nickname": "Skerry", "agent_role": script.agent_type}
        source = {"subagent": {"thread_spawn": spawn}} if script.agent_type else "cli"
    git = {"branch": script.branch, "repository_url": f"git@github.com:lindqvist/{script.project}.git"}
    return {
        "id": script.session_id, **link, "timestamp": iso(_started_at(script)), "cwd": script.cwd,
        "originator": "codex-tui", "cli_version": VERSION, "source": source, "model_provider": "openai", "git": git,
    }  # fmt: skip


def _line(at: datetime, kind: str, payload: Line) -> Line:
    return {"timestamp": iso(at), "type": kind, "payload": payload}


def _turns(script: Script, turns: Sequence[Turn]) -> list[Line]:
    where = f"<environment_context>\n  <cwd>{script.cwd}</cwd>\n  <shell>bash</shell>\n</environment_context>"
    lines = [_said(turns[0].at, "user", where)]
    call = ""
    for number, turn in enumerate(turns):
        call = f"call_{digest(script.name, number)[:24]}" if turn.role in CALLS else call
        lines += _turn(script, number, turn, call)
    return lines


def _turn(script: Script, number: int, turn: Turn, call: str) -> list[Line]:
    if turn.role == "mira":
        context = {"turn_id": digest(script.name, number, "turn")[:32], "cwd": script.cwd, "model": MODEL}
        policies = {"approval_policy": "on-request", "sandbox_policy": {"type": "workspace-write"}, "summary": "auto"}
        typed = {"type": "user_message", "message": turn.text, "images": []}
        said = _said(turn.at, "user", turn.text, with_image=bool(turn.detail))
        return [_line(turn.at, "turn_context", context | policies), said, _line(turn.at, "event_msg", typed)]
    if turn.role == "agent":
        typed = {"type": "agent_message", "message": turn.text}
        return [_line(turn.at, "event_msg", typed), _said(turn.at, "assistant", turn.text), _tokens(turn)]
    if turn.role == "compaction":
        kept = [_said(t.at, "user", t.text)["payload"] for t in script.turns[:number] if t.role == "mira"]
        compacted = {"message": turn.text, "replacement_history": kept}
        return [_line(turn.at, "compacted", compacted), _line(turn.at, "event_msg", {"type": "context_compacted"})]
    payload = _call(turn, call) if turn.role in CALLS else _other(script, number, turn, call)
    return [_line(turn.at, "response_item", payload)] if payload else []


def _call(turn: Turn, call: str) -> Line:
    given = arguments(turn)
    if turn.role in ("write", "edit"):
        return {
            "type": "custom_tool_call",
            "status": "completed",
            "call_id": call,
            "name": "apply_patch",
            "input": _patch(turn),
        }
    command = given.get("command") or f"sed -n '1,200p' {given.get('path')}"
    asked = {"cmd": command, "yield_time_ms": 10_000}
    name = "exec_command"
    if turn.role == "task":
        name, asked = "spawn_agent", {"agent_type": turn.detail, "message": given["prompt"]}
    return {"type": "function_call", "name": name, "arguments": orjson.dumps(asked).decode(), "call_id": call}


def _patch(turn: Turn) -> str:
    path, _, rest = turn.text.partition("\n")
    if turn.role == "write":
        body = f"*** Add File: {path}\n" + "\n".join(f"+{line}" for line in rest.split("\n"))
    else:
        body = f"*** Update File: {path}\n@@\n{rest}"
    return f"*** Begin Patch\n{body}\n*** End Patch\n"


def _other(script: Script, number: int, turn: Turn, call: str) -> Line | None:
    if turn.role == "thinks":
        return {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": turn.text}],
            "encrypted_content": None,
        }
    if turn.role not in ("out", "fails"):
        return None
    failed = int(turn.role == "fails")
    if script.turns[number - 1].role in ("write", "edit"):
        output = orjson.dumps({"output": turn.text, "metadata": {"exit_code": failed, "duration_seconds": 0.1}}).decode()
        return {"type": "custom_tool_call_output", "call_id": call, "output": output}
    output = f"Chunk ID: {digest(call)[:6]}\nWall time: 0.2 seconds\nProcess exited with code {failed}\nOutput:\n{turn.text}"
    return {"type": "function_call_output", "call_id": call, "output": output}


def _said(at: datetime, role: str, text: str, *, with_image: bool = False) -> Line:
    content: list[Line] = [{"type": "input_text" if role == "user" else "output_text", "text": text}]
    if with_image:
        content.append({"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"})
    return _line(at, "response_item", {"type": "message", "role": role, "content": content})


def _tokens(turn: Turn) -> Line:
    usage = {"input_tokens": 12_368, "cached_input_tokens": 9_600, "output_tokens": 20 + len(turn.text) // 4}
    return _line(turn.at, "event_msg", {"type": "token_count", "info": {"last_token_usage": usage}})
