"""Claude Code. Hooks import this package, with the standard library only."""

STARTS_AFTER_COMPACTION = True
"""Whether the hook at the start after a compaction has the transcript read: see `MATCHERS` in
`hooks`.
"""
