"""Readers of transcripts: one module for each harness, and the normal form that they produce."""
