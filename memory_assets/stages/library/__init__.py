"""Reads knowledge beside sessions: architecture decision records."""
