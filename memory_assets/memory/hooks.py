"""What harnesses call: an installed hook, and `memory send`. Imports only the standard library."""

from memory_assets.stages.deliver.events import FIELDS
from memory_assets.stages.deliver.hook import is_connected, is_understood, run, send, spool_words

EVENTS = tuple(FIELDS)
"""Names of the events that `send` accepts."""
