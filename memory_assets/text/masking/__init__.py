"""Masking of secrets in transcripts, in every text that is written, and in every text that leaves
the machine.
"""
