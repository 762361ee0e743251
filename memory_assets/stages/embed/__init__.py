"""Observations become vectors, and near-duplicates become one memory."""
