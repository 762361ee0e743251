"""Condenses observations into reflections, these into distillates of weeks and months, and proposes
lines for MEMORY.md.
"""
