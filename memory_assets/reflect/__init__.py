"""Days of observations become reflections, and reflections become proposals for MEMORY.md."""
