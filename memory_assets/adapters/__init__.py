"""Adapters to the outside world: each file implements one protocol, without rules of a stage."""
