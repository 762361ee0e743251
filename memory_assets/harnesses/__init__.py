"""One folder for each coding agent: its reader, known records and hooks."""
