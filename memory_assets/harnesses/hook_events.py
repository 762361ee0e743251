"""The events of harnesses at which our hooks run. Standard library only."""

START = "SessionStart"

COMPACTING = "PreCompact"

END = "SessionEnd"

PROMPT = "UserPromptSubmit"
"""At each prompt, where a person chose that."""

NOTIFY = "notify"
"""Codex calls it after each turn, with the payload as the last word instead of on stdin."""

EVENTS = (START, COMPACTING, END)
"""Where hooks are always installed."""
