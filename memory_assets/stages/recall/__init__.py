"""A question in, the few memories worth reading out."""
