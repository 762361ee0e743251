"""Replays sessions: their turns, and the state of a session at the end of a turn."""
