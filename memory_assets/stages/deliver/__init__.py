"""Between a harness and the memory: hooks that hand out the briefing and spool what happened, and
taking the spool in.

What a harness calls (`hook`, `spool`, `events`) imports the standard library only.
"""
