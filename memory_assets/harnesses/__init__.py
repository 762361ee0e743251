"""One folder for each coding agent: its reader, recogniser, homes, known records and hooks."""
