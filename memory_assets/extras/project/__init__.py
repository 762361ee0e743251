"""The project: its promoted lines, published into its AGENTS.md or CLAUDE.md for other people."""

from memory_assets.schema.extras import Extra

EXTRA = Extra(
    name="project",
    commands={"project": "cli:app"},
    answers="cli:answer_types",
    checks="checks",
    deep_checks="edits:check_blocks",
    edited_files="edits:published_files",
    amendments="edits:plan_amendments",
)
