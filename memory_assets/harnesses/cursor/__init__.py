"""Cursor's agent. Hooks import this package, with the standard library only."""
