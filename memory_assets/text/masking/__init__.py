"""Masking of secrets in transcripts and in every text that leaves the machine."""
