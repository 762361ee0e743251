"""The facade: `MemoryAgent`, with one method for each verb that a person or an agent can ask."""

from memory_assets.memory.agent import AN_ID, MEMORIES, Asking, MemoryAgent, announcements, scan

__all__ = ["AN_ID", "MEMORIES", "Asking", "MemoryAgent", "announcements", "scan"]
