"""Small Claude Code sessions, written line by line as the harness does, for tests of capture."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

START = datetime(2026, 8, 3, 9, 0, tzinfo=UTC)


def at(minutes: float) -> str:
    """The moment so many minutes after nine o'clock."""
    return (
        (START + timedelta(minutes=minutes))
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )


def user(session: str, number: int, text: str, minutes: float) -> dict[str, Any]:
    """A turn of the human."""
    return _record(session, number, minutes, "user", {"role": "user", "content": text})


def assistant(session: str, number: int, text: str, minutes: float) -> dict[str, Any]:
    """An answer of the assistant."""
    content = [{"type": "text", "text": text}]
    message = {"id": f"msg_{session}_{number}", "role": "assistant", "content": content}
    return _record(session, number, minutes, "assistant", message)


def compaction(session: str, number: int, minutes: float) -> dict[str, Any]:
    """The line that a compaction leaves behind."""
    record = _record(session, number, minutes, "system", None)
    return {
        **record,
        "subtype": "compact_boundary",
        "compactMetadata": {"trigger": "auto", "preTokens": 150_000},
    }


def dialogue(
    session: str, turns: int, *, first: int = 0, minutes: float = 0.0
) -> list[dict[str, Any]]:
    """So many turns of the human, each answered, a minute apart."""
    found = []
    for turn in range(turns):
        number = first + 2 * turn
        found.append(
            user(session, number, f"{session}: please look at point {number}", minutes + turn)
        )
        found.append(
            assistant(
                session, number + 1, f"{session}: point {number} is done", minutes + turn + 0.5
            )
        )
    return found


def lines(*records: dict[str, Any]) -> bytes:
    """The records as JSON lines."""
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def transcript(folder: Path, session: str) -> Path:
    """Where the session's transcript lies."""
    path = folder / "projects" / "-home-mira-shop" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _record(
    session: str, number: int, minutes: float, kind: str, message: dict[str, Any] | None
) -> dict[str, Any]:
    record: dict[str, Any] = {
        "type": kind,
        "uuid": f"{session}-{number}",
        "sessionId": session,
        "timestamp": at(minutes),
        "cwd": "/home/mira/shop",
        "gitBranch": "main",
        "version": "2.1.150",
        "userType": "external",
        "isSidechain": False,
    }
    return record if message is None else {**record, "message": message}
