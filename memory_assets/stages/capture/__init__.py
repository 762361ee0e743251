"""Transcripts in, messages out: finds, archives and masks them, reads three formats into one normal
form.
"""
