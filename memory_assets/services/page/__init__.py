"""Reads what the local page shows beside the answers of the verbs."""
