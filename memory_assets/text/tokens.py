"""How much room text takes in a model's context, estimated without its tokenizer."""

CHARS_A_TOKEN = 4
"""Of English prose and code, by the rule of thumb that vendors give; exact counts come back with each answer."""


def count_tokens(text: str) -> int:
    """Returns about how many tokens the text takes, rounded up."""
    return -(-len(text) // CHARS_A_TOKEN)
