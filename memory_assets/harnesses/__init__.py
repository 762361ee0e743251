"""One folder for each coding agent: its declaration, reader, known records and hooks."""
