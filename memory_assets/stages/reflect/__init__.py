"""Days of observations become reflections, these become distillates of weeks and months, and proposals for MEMORY.md."""

REFLECTOR = "rules/4"
"""Version of the rules that condense a day."""

DISTILLER = "rules/2"
"""Version of the rules that condense weeks and months from their days."""

TIMELINE_VERSION = "timeline/2"
"""Version of the rules that tell a week as a chapter."""
