"""Gemini CLI. Hooks import this package, with the standard library only."""

from memory_assets.harnesses.hook_events import json_context as render_context

__all__ = ["render_context"]
