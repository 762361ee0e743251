"""Reads what the owner typed behind observations: whether it was pasted, and whether it is
unmistakably meant to last.

Takes observations; finds the owner's messages that hold their quotes. A memory has only the words
of a rule, so that "I told you again:" before it, or "from now on" in its sentence, is read from the
message.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import polars as pl

from memory_assets.english.standing import is_standing_order
from memory_assets.stages.distill.authorship import is_pasted, typed_paragraphs
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.text.sentences import split_sentences
from memory_assets.text.words import squeezed

PASTED = "was read in pasted text: only a person can approve this"

SHORT_WORDS = 6
"""A sentence of at most so many words introduces the next one: "I told you already."."""


@dataclass(frozen=True)
class TypedWords:
    """The observations whose quote was only pasted, and those whose sentence is a standing
    order.
    """

    pasted: frozenset[str] = frozenset()
    standing: frozenset[str] = frozenset()


def read_typed_words(observation_ids: Collection[str], tables: ParquetTables) -> TypedWords:
    """Returns what the owner's messages show of these observations."""
    behind = tables.scan("observations").filter(pl.col("id").is_in(list(observation_ids)))
    rows = behind.select("id", "day", "author", "quote", "message_ids").collect()
    wanted = rows["message_ids"].explode().unique().drop_nulls().to_list()
    days = [day.isoformat() for day in rows["day"].unique()]
    spoken = tables.scan("messages", days).filter(
        pl.col("message_id").is_in(wanted) & (pl.col("author") == "owner")
    )
    text_of = dict(spoken.select("message_id", "text").collect().iter_rows())
    pasted: set[str] = set()
    standing: set[str] = set()
    for row in rows.iter_rows(named=True):
        texts = [text_of[id] for id in row["message_ids"] if id in text_of]
        if texts and all(is_pasted(row["quote"], text) for text in texts):
            pasted.add(row["id"])
        if row["author"] == "owner" and any(_orders(row["quote"], text) for text in texts):
            standing.add(row["id"])
    return TypedWords(frozenset(pasted), frozenset(standing))


def _orders(quote: str, text: str) -> bool:
    """Returns whether the owner typed the quote as a standing order."""
    typed = "\n".join(typed_paragraphs(text))
    return any(map(is_standing_order, _sentences_with(squeezed(quote).casefold(), typed)))


def _sentences_with(quote: str, text: str) -> Iterator[str]:
    """Yields the sentences that hold the quote, whatever their case, with a short one in front."""
    introduction = ""
    for sentence in split_sentences(text):
        words = squeezed(sentence).casefold()
        if quote and (quote in words or words in quote):
            yield f"{introduction} {sentence}"
        introduction = sentence if len(sentence.split()) <= SHORT_WORDS else ""
