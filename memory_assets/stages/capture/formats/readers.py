"""Selects the reader of a transcript, and finds its session, from the path and the first lines of
the file.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import PureWindowsPath
from typing import Any

import orjson

from memory_assets.schema.vocabulary import Harness
from memory_assets.stages.capture.formats.claude_code import ClaudeCodeReader
from memory_assets.stages.capture.formats.codex import CodexReader
from memory_assets.stages.capture.formats.normal_form import TranscriptReader
from memory_assets.stages.capture.formats.pi import PiReader
from memory_assets.text.files import UTF8_BOM

HEADER_LINES = 50
"""First lines that `session_id_of` and `seed_of` need: a fork of forks repeats one header per
generation.
"""

_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_SUFFIX = re.compile(r"\.(?:jsonl|ndjson)(?![A-Za-z0-9]).*$", re.IGNORECASE)


def open_reader(
    harness: Harness,
    path: str,
    state: Mapping[str, Any] | None = None,
    *,
    session_id: str | None = None,
) -> TranscriptReader:
    """Returns a reader for the transcript at the path, continuing from the state where one is
    given.

    The session is that of the path, if no other is given.
    """
    session_id = session_id or session_id_of(harness, path, ())
    if harness == "codex":
        return CodexReader(session_id, state)
    if harness == "pi":
        return PiReader(session_id, state)
    return ClaudeCodeReader(session_id, state, is_subagent=_is_subagent_file(path))


def session_id_of(harness: Harness, path: str, first_lines: Sequence[bytes]) -> str:
    """Returns the id of the session in the file: the one in its name, else the one in its first
    records.

    A name may have words around the id, or several ids: then the one that the records have, too.
    """
    stem = _SUFFIX.sub("", PureWindowsPath(path).name)
    if harness == "claude_code" and _is_subagent_file(path):
        return _subagent_session(path, stem, first_lines)
    named = _UUID.findall(stem)
    if len(named) == 1:
        return named[0]
    written = _written_session(harness, first_lines)
    return written if written and (not named or written in named) else (named or [stem])[-1]


def seed_of(harness: Harness, path: str, first_lines: Sequence[bytes]) -> str:
    """Returns the seed of the file's message ids: the session at the root of its forks, else its
    own.
    """
    if harness != "codex":
        return session_id_of(harness, path, first_lines)
    reader = CodexReader(session_id_of(harness, path, first_lines))
    for line in first_lines:
        reader.read(line)
    return str(reader.state["root"])


def _is_subagent_file(path: str) -> bool:
    """Returns whether it is a sub-agent's of Claude Code: `<session>/subagents/agent-<id>.jsonl`,
    flat in old versions.
    """
    return PureWindowsPath(path).name.startswith("agent-")


def _subagent_session(path: str, stem: str, first_lines: Sequence[bytes]) -> str:
    folders, records = PureWindowsPath(path).parts[:-1], _records(first_lines)
    agents = (f"agent-{record.get('agentId')}" for record in records)
    stem = next((agent for agent in agents if stem.startswith(agent)), stem)
    if "subagents" in folders[1:]:
        return f"{folders[folders.index('subagents') - 1]}/{stem}"
    parent = next(
        (p for p in (record.get("sessionId") for record in records) if isinstance(p, str)), None
    )
    return f"{parent}/{stem}" if parent else stem


def _written_session(harness: Harness, first_lines: Sequence[bytes]) -> str | None:
    """Returns the session that the first records name."""
    for record in _records(first_lines):
        inner = record.get("payload") if harness == "codex" else record
        if harness == "claude_code" and isinstance(session := record.get("sessionId"), str):
            agent = record.get("agentId") if record.get("isSidechain") else None
            return f"{session}/agent-{agent}" if isinstance(agent, str) else session
        if (
            record.get("type") in ("session", "session_meta")
            and isinstance(inner, Mapping)
            and inner.get("id")
        ):
            return str(inner["id"])
    return None


def _records(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    records = []
    for line in lines:
        try:
            record = orjson.loads(line.removeprefix(UTF8_BOM))
        except orjson.JSONDecodeError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records
