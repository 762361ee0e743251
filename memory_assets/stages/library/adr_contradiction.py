"""What `memory library adr check` and `memory review` show of a contradicted decision record."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AdrContradiction:
    """A memory that contradicts a decision record in force."""

    number: int
    path: str
    project: str
    statement: str
    """The sentence of the record."""
    memory_id: str
    text: str
    """The memory."""
    reason: str
