"""Days of observations become reflections, these become distillates of weeks and months, and proposals for MEMORY.md."""

REFLECTOR = "rules/3"
"""Version of the rules that condense a day."""

DISTILLER = "rules/1"
"""Version of the rules that condense weeks and months from their days."""
