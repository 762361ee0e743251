"""OpenCode. Hooks import this package, with the standard library only."""

PROJECT_FILE = "AGENTS.md"
"""The file in a project that it loads into each session."""
