"""Distill: turns messages into segments, observations with verdicts, and the daily log."""

from memory_assets.schema.tables import version_of

DISTILL_VERSION = version_of("observations")
"""Changes when a rule of this stage changes its results; days built by an earlier version are stale."""
