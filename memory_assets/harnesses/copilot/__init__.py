"""Copilot CLI. Hooks import this package, with the standard library only."""

import json

LOSES_BRIEFING = True
"""Whether a resumed session has lost its briefing, which is no event of its transcript."""

PROJECT_FILE = "AGENTS.md"
"""The file in a project that it loads into each session."""


def render_context(event: str, text: str) -> str:
    """Returns the text for the model's context as Copilot CLI reads it from a hook."""
    return json.dumps({"additionalContext": text})
