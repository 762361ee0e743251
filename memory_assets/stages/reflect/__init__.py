"""Condenses the observations of a day into reflections, and reflections into distillates of weeks
and months; proposes lines for MEMORY.md.
"""
