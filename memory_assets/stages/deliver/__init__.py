"""Connects harnesses with the memory: their hooks print the briefing and append events to a spool,
and each ingest reads the spool.

Modules that a harness calls (`hook`, `spool`, `events`) import the standard library only.
"""
