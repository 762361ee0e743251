"""The events of harnesses at which our hooks run. Standard library only."""

START = "SessionStart"

COMPACTING = "PreCompact"

END = "SessionEnd"

PROMPT = "UserPromptSubmit"
"""Has a hook only where a person chose recall at each prompt."""

TOOL = "PreToolUse"
"""Has a hook only where a person chose a line before tools."""

NOTIFY = "notify"
"""Codex calls it after each turn, with the payload as the last word instead of on stdin."""

AT_PROMPT = "prompt"
"""Source of a session's start: a prompt, which has the briefing if the session had none yet."""

EVENTS = (START, COMPACTING, END)
"""Events that always have a hook."""


def json_context(event: str, text: str) -> str:
    """Returns the text for the model's context as Claude Code and others read it from a hook."""
    import json

    context = {"hookEventName": event, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": context})
