"""Says who said a result: a person, an assistant, or somebody else whose text a person pasted.

A person's turn may contain text that others wrote: mails, logs, reviews and documents are pasted into it. If the rules of
distillation attribute less than half of a passage to the person, it is shown as pasted and is not found by the person's name.
"""

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.stages.distill.rules.exchanges import own_paragraphs

PASTED = "pasted"
"""Author of a pasted passage."""

OWN_SHARE = 0.5
"""Least share of a passage, in characters, that is the person's own."""


def said_by(row: Row) -> str:
    """Returns who said a memory or a message."""
    person = row["person"] or "owner"
    named = {"owner": person, PASTED: f"pasted by {person}", "subagent": "sub-agent"}
    return named.get(row["author"], row["author"])


def mark_pasted(rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the passages with the author `pasted` for those in an owner's turn that are not the owner's words."""
    spans = zip(*(rows[name] for name in ("author", "whole", "char_from", "char_to")), strict=True)
    authors = [PASTED if author == "owner" and is_pasted(*span) else author for author, *span in spans]
    return rows.clone().replace_column(rows.get_column_index("author"), pl.Series("author", authors, pl.String))


def is_pasted(turn: str, start: int, end: int) -> bool:
    """Returns whether the span of the turn is mostly text that the owner did not write."""
    own = _squeezed("\n".join(own_paragraphs(turn)))
    lines = [line for line in map(_squeezed, turn[start:end].splitlines()) if line]
    return sum(len(line) for line in lines if line in own) < OWN_SHARE * sum(map(len, lines))


def _squeezed(text: str) -> str:
    return " ".join(text.split())
