"""Distill: messages become segments, observations with verdicts, and the daily log."""

from memory_assets.schema.tables import version_of

DISTILL_VERSION = version_of("observations")
"""Moves on when a rule of this stage changes what it makes of the same messages: days made by an earlier one are stale."""
