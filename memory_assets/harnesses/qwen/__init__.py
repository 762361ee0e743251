"""Qwen Code. Hooks import this package, with the standard library only."""

LOSES_BRIEFING = True
"""Whether a resumed session has lost its briefing, which is in the system prompt alone."""
