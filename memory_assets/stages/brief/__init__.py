"""Writes the briefing: what the next session should know at its start."""
