"""Proposals become decisions, and decisions become lines of MEMORY.md."""
