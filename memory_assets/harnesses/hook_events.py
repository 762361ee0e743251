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

EVENTS = (START, COMPACTING, END)
"""Events that always have a hook."""
