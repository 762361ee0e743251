"""Checks and reports whether memories are complete, fresh and correct, and retires unused ones."""
