"""OpenCode. Hooks import this package, with the standard library only."""
