"""Encodes observations as vectors, and merges observations that say the same into memories."""
