"""Condenses observations into reflections, these into distillates of weeks and months, and proposes lines for MEMORY.md."""

from memory_assets.schema.tables import version_of

REFLECTOR = version_of("reflections")
"""Version of the rules that condense a day."""

DISTILLER = version_of("weekly_distillates")
"""Version of the rules that condense weeks and months from their days."""
