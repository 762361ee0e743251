"""Selects the reader of a transcript, and finds its session, from the path and the first lines of the file."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PureWindowsPath
from typing import Any

import orjson

from memory_assets.schema.records import Harness
from memory_assets.stages.capture.formats.claude_code import ClaudeCodeReader
from memory_assets.stages.capture.formats.codex import CodexReader
from memory_assets.stages.capture.formats.normal_form import TranscriptReader
from memory_assets.stages.capture.formats.pi import PiReader

HEADER_LINES = 16
"""First lines that `session_id_of` and `seed_of` need: a fork of forks repeats one header per generation."""

_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_SUFFIX = re.compile(r"\.jsonl(?:\.zst)?$")


def open_reader(harness: Harness, path: str, state: Mapping[str, Any] | None = None) -> TranscriptReader:
    """Returns a reader for the transcript at the path, continuing from the state where one is given."""
    session_id = session_id_of(harness, path, ())
    if harness == "codex":
        return CodexReader(session_id, state)
    if harness == "pi":
        return PiReader(session_id, state)
    return ClaudeCodeReader(session_id, state, is_subagent=_is_subagent_file(path))


def session_id_of(harness: Harness, path: str, first_lines: Sequence[bytes]) -> str:
    """Returns the id of the session in the file: from the file name, else from its first records."""
    stem = _SUFFIX.sub("", PureWindowsPath(path).name)
    if harness == "claude_code":
        return _claude_session(path, stem, first_lines)
    found = _UUID.findall(stem)
    if found:
        return found[-1]
    for record in _records(first_lines):
        inner = record.get("payload") if harness == "codex" else record
        if record.get("type") in ("session", "session_meta") and isinstance(inner, Mapping) and inner.get("id"):
            return str(inner["id"])
    return stem


def seed_of(harness: Harness, path: str, first_lines: Sequence[bytes]) -> str:
    """Returns the seed of the file's message ids: the session at the root of its forks, else its own."""
    if harness != "codex":
        return session_id_of(harness, path, first_lines)
    reader = CodexReader(session_id_of(harness, path, first_lines))
    for line in first_lines:
        reader.read(line)
    return str(reader.state["root"])


def _is_subagent_file(path: str) -> bool:
    """Returns whether it is a sub-agent's of Claude Code: `<session>/subagents/agent-<id>.jsonl`, flat in old versions."""
    return PureWindowsPath(path).name.startswith("agent-")


def _claude_session(path: str, stem: str, first_lines: Sequence[bytes]) -> str:
    if not _is_subagent_file(path):
        return stem
    folders = PureWindowsPath(path).parts[:-1]
    if "subagents" in folders[1:]:
        return f"{folders[folders.index('subagents') - 1]}/{stem}"
    parents = (record.get("sessionId") for record in _records(first_lines))
    parent = next((p for p in parents if isinstance(p, str)), None)
    return f"{parent}/{stem}" if parent else stem


def _records(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    records = []
    for line in lines:
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records
