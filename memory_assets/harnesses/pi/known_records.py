"""The names of records that the reader of pi knows, so that a new one is counted as unknown.

The format is an open set: a name that is missing here only adds a line to the doctor's table. The
names are from real files, from descriptions of the harness, and from the lists in its program
(0.87.1).
"""

ENTRIES = frozenset("model_change thinking_level_change custom label usage context_edit".split())
