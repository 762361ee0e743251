"""Takes transcripts in: finds the files, masks and archives their bytes, and parses the formats of
all harnesses into messages of one normal form.
"""
