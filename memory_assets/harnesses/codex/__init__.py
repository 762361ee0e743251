"""Codex. Hooks import this package, with the standard library only."""

from memory_assets.harnesses.hook_events import json_context as render_context

__all__ = ["HOOKS_FILE", "PROJECT_FILE", "render_context"]

HOOKS_FILE = ("CODEX_HOME", ".codex", "hooks.json")
"""The variable with the folder of its settings, that folder in the home, the file with hooks."""

PROJECT_FILE = "AGENTS.md"
"""The file in a project that it loads into each session."""
