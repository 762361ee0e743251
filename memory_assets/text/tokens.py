"""Estimates the tokens of a text without a tokenizer."""

CHARS_A_TOKEN = 4
"""For English prose and code, by the vendors' rule of thumb; each answer reports exact counts."""


def count_tokens(text: str) -> int:
    """Returns the estimated tokens of the text, rounded up."""
    return -(-len(text) // CHARS_A_TOKEN)
