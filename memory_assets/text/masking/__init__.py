"""Masks secrets in transcripts, in texts that are written, and in texts that leave the machine."""
