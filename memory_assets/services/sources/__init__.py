"""Where transcripts and the harnesses' own memory files lie, and which of them are left out."""
