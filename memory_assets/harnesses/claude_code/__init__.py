"""Claude Code. Hooks import this package, with the standard library only."""

HOOKS_FILE = ("CLAUDE_CONFIG_DIR", ".claude", "settings.json")
"""The variable with the folder of its settings, that folder in the home, the file with hooks."""

STARTS_AFTER_COMPACTION = True
"""Whether the hook at the start after a compaction has the transcript read: see `MATCHERS` in
`hooks`.
"""

PROJECT_FILE = "CLAUDE.md"
"""The file in a project that it loads into each session."""
