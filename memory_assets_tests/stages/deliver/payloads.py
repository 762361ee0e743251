"""What harnesses hand to their hooks, as they document it, for tests."""

import json
from typing import Any

SESSION = "0a000001-1111-4222-8333-444455556666"
TRANSCRIPT = f"/home/mira/.claude/projects/-home-mira-shop/{SESSION}.jsonl"


def claude(event: str, **fields: Any) -> str:
    """A payload of Claude Code."""
    common = {
        "session_id": SESSION,
        "transcript_path": TRANSCRIPT,
        "cwd": "/home/mira/shop",
        "permission_mode": "default",
    }
    return json.dumps({**common, "hook_event_name": event, **fields})


def codex(event: str, **fields: Any) -> str:
    """A payload of Codex."""
    common = {
        "session_id": SESSION,
        "transcript_path": None,
        "cwd": "/home/mira/shop",
        "model": "gpt-5.4",
    }
    return json.dumps({**common, "hook_event_name": event, **fields})


NOTIFICATION = json.dumps(
    {
        "type": "agent-turn-complete",
        "thread-id": SESSION,
        "turn-id": "12",
        "cwd": "/home/mira/shop",
        "input-messages": ["My password is hunter2hunter2"],
        "last-assistant-message": "Noted.",
    }
)

START = claude("SessionStart", source="startup", model="opus")
COMPACTING = claude("PreCompact", transcript_path="", trigger="auto", custom_instructions=None)
END = claude("SessionEnd", reason="prompt_input_exit")
