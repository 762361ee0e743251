"""Adds to each proposal of a new line what its owner typed: standing orders, pasted text, own
hosts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.stages.triage.own_hosts import read_own_hosts
from memory_assets.stages.triage.sensitive import names_host
from memory_assets.stages.triage.typed import TypedWords, read_typed_words
from memory_assets.store.parquet_tables import ParquetTables


def read_typed_proposals(
    undecided: Sequence[Row], proposals: Mapping[str, Row], tables: ParquetTables
) -> dict[str, dict[str, Any]]:
    """Returns, by proposal, whether it is a standing order.

    Where it has pasted evidence, also the sessions that say it outside pasted text; where it names
    a host, also the hosts of the owner's own commands. `undecided` are decisions about new lines.
    """
    about = [proposals[row["proposal_id"]] for row in undecided]
    observation_ids = {id for proposal in about for id in proposal["observation_ids"]}
    words = read_typed_words(observation_ids, tables)
    observations = tables.scan("observations").filter(pl.col("id").is_in(list(observation_ids)))
    session_of = dict(observations.select("id", "session_id").collect().iter_rows())
    typed = {proposal["proposal_id"]: _typed(proposal, words, session_of) for proposal in about}
    naming_hosts = [row["proposal_id"] for row in undecided if names_host(row["text"])]
    if naming_hosts:
        hosts = read_own_hosts(tables)
        for proposal_id in naming_hosts:
            typed[proposal_id]["own_hosts"] = hosts
    return typed


def _typed(proposal: Row, words: TypedWords, session_of: Mapping[str, str]) -> dict[str, Any]:
    ids = proposal["observation_ids"]
    is_owners = proposal["author"] == "owner"
    typed: dict[str, Any] = {"is_standing_order": is_owners and not words.standing.isdisjoint(ids)}
    if words.pasted.intersection(ids):
        own_ids = (id for id in ids if id in session_of and id not in words.pasted)
        typed["typed_session_ids"] = list(dict.fromkeys(map(session_of.__getitem__, own_ids)))
    return typed
