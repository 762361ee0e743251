"""Reads what the owner typed behind proposals of new lines: pasted text, orders that are
unmistakably meant to last, and hosts of their own.

Finds the owner's messages that hold the quotes of the observations. A memory has only the words
of a rule, so that "I told you again:" before it, or "from now on" in its sentence, is read from the
message.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from memory_assets.english.standing import is_standing_order
from memory_assets.schema.protocols import Row
from memory_assets.stages.distill.authorship import is_pasted, typed_paragraphs, words_of
from memory_assets.stages.triage.own_hosts import read_own_hosts
from memory_assets.stages.triage.sensitive import names_host
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.text.sentences import split_sentences
from memory_assets.text.words import squeezed

PASTED = "was read in pasted text: only a person can approve this"

SHORT_WORDS = 6
"""A sentence of at most so many words introduces the next one: "I told you already."."""


def read_typed_proposals(
    undecided: Sequence[Row], proposals: Mapping[str, Row], tables: ParquetTables
) -> dict[str, dict[str, Any]]:
    """Returns, by proposal, whether it is a standing order.

    Where it has pasted evidence, also the sessions that say it outside pasted text; where it names
    a host, also the hosts of the owner's own commands. `undecided` are decisions about new lines.
    """
    about = [proposals[row["proposal_id"]] for row in undecided]
    ids = list({id for proposal in about for id in proposal["observation_ids"]})
    observations = tables.scan("observations").filter(pl.col("id").is_in(ids)).collect()
    session_of = dict(observations.select("id", "session_id").iter_rows())
    pasted, standing = _typed_observations(observations, tables)
    typed: dict[str, dict[str, Any]] = {}
    for proposal in about:
        ids = proposal["observation_ids"]
        is_order = proposal["author"] == "owner" and not standing.isdisjoint(ids)
        row = typed[proposal["proposal_id"]] = {"is_standing_order": is_order}
        if pasted.intersection(ids):
            row["typed_session_ids"] = _sessions_of(ids, pasted, session_of)
    naming_hosts = [row["proposal_id"] for row in undecided if names_host(row["text"])]
    hosts = read_own_hosts(tables) if naming_hosts else ()
    for proposal_id in naming_hosts:
        typed[proposal_id]["own_hosts"] = hosts
    return typed


def _sessions_of(
    ids: Sequence[str], pasted: Collection[str], session_of: Mapping[str, str]
) -> list[str]:
    """Returns the sessions that say it outside pasted text."""
    own_ids = (id for id in ids if id in session_of and id not in pasted)
    return list(dict.fromkeys(map(session_of.__getitem__, own_ids)))


def _typed_observations(
    observations: pl.DataFrame, tables: ParquetTables
) -> tuple[set[str], set[str]]:
    """Returns the observations whose quote was only pasted, and those whose sentence is a standing
    order.
    """
    wanted = observations["message_ids"].explode().unique().drop_nulls().to_list()
    days = [day.isoformat() for day in observations["day"].unique()]
    is_wanted = pl.col("message_id").is_in(wanted) & (pl.col("author") == "owner")
    spoken = tables.scan("messages", days).filter(is_wanted)
    text_of = dict(spoken.select("message_id", "text").collect().iter_rows())
    pasted: set[str] = set()
    standing: set[str] = set()
    for row in observations.iter_rows(named=True):
        texts = [text_of[id] for id in row["message_ids"] if id in text_of]
        if _is_only_pasted(row["quote"], texts):
            pasted.add(row["id"])
        if row["author"] == "owner" and any(_orders(row["quote"], text) for text in texts):
            standing.add(row["id"])
    return pasted, standing


def _is_only_pasted(quote: str, texts: Sequence[str]) -> bool:
    """Returns whether turns hold the quote, and none as typed text."""
    holding = [text for text in texts if words_of(quote) in words_of(text)]
    return bool(holding) and all(is_pasted(quote, text) for text in holding)


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
