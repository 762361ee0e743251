"""Brings proposals up to date: who has confirmed each since it was proposed, and the state of its
memory.

A proposal keeps the row of the day it was first proposed. What later sessions added is in the
present `memories`, in other proposals of the same project with the same words, and in those that
were merged into it. Only allowed observations confirm a proposal: a held echo of a web page or of a
tool's output does not. An amendment already names its evidence.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.stages.distill.write_gate import PERHAPS
from memory_assets.stages.triage.memory_md import normal
from memory_assets.stages.triage.projects import place_of
from memory_assets.stages.verify.verifications import gone_names
from memory_assets.store.parquet_tables import ParquetTables

_OF_THE_MEMORY = ("author", "confidence", "event_at", "contradicted_count")

HELD = "held"
"""State of a memory whose facts the write gate held; if one may be a rule, a person is asked."""

GONE = "gone"
"""State of a memory that no longer exists because a changed rule or prompt words it differently."""


def read_proposals(tables: ParquetTables) -> pl.DataFrame:
    """Returns proposals, amendments and recurring problems together; `entry` is empty for a new
    line.
    """
    plain = tables.read("proposals")
    amendments = tables.read("amendments", columns=[*plain.columns, "entry"])
    problems = tables.read("friction", columns=plain.columns)
    return pl.concat([plain, amendments, problems], how="diagonal")


def read_current(
    tables: ParquetTables, merged: Mapping[str, str] = MappingProxyType({})
) -> dict[str, dict[str, Any]]:
    """Returns proposals, amendments and recurring problems by id, with present observations and
    `memory_state`; one that names what is gone has that in `names_gone`.

    `merged` names the proposal that each merged one repeats.
    """
    memories = tables.read("memories", columns=["id", "state", "observation_ids", *_OF_THE_MEMORY])
    observations = tables.read(
        "observations", columns=["id", "session_id", "author", "gate", "gate_reason", "project"]
    )
    proposed = current_proposals(tables.read("proposals"), memories, observations, merged)
    for id, names in gone_names(tables.read("verifications"), "proposal").items():
        if id in proposed:
            proposed[id]["names_gone"] = f"it {names.mark}"
    others = [*tables.read("amendments").to_dicts(), *tables.read("friction").to_dicts()]
    return proposed | {row["proposal_id"]: row for row in others}


def current_proposals(
    proposals: pl.DataFrame,
    memories: pl.DataFrame,
    observations: pl.DataFrame,
    merged: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, dict[str, Any]]:
    """Returns the proposals by id, with present observations and `memory_state`."""
    memories, observations = _of_proposals(proposals, memories, observations)
    behind = {id: row for row in memories.iter_rows(named=True) for id in row["observation_ids"]}
    allowed = observations.filter(pl.col("gate") == "allow")
    session_of = dict(allowed.select("id", "session_id").iter_rows())
    project_of = dict(allowed.select("id", "project").iter_rows())
    offered = observations.filter(pl.col("gate_reason").str.starts_with(PERHAPS))
    doubt_of = dict(offered.select("id", "gate_reason").iter_rows())
    proposed = {
        row["proposal_id"]: _with_memory(row, behind, doubt_of)
        for row in proposals.sort("proposal_id").iter_rows(named=True)
    }
    same: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for row in proposed.values():
        same[_said(row)] += row["observation_ids"]
    for id, other in merged.items():
        if id in proposed and other in proposed:
            same[_said(proposed[other])] += proposed[id]["observation_ids"]
    owners = frozenset(allowed.filter(author="owner")["id"])
    current = {
        id: _with_echoes(row, same[_said(row)], session_of, owners) for id, row in proposed.items()
    }
    for row in current.values():
        projects = {project_of[id] for id in row["observation_ids"] if id in project_of}
        row["project_count"] = len(projects)
    return current


def _of_proposals(
    proposals: pl.DataFrame, memories: pl.DataFrame, observations: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Returns the memories that have an observation of a proposal, and the observations of both."""
    ids = proposals["observation_ids"].explode()
    has_any = pl.col("observation_ids").list.eval(pl.element().is_in(ids.to_list())).list.any()
    memories = memories.filter(has_any)
    ids = pl.concat([ids, memories["observation_ids"].explode()])
    return memories, observations.filter(pl.col("id").is_in(ids.implode()))


def _said(proposal: Row) -> tuple[str, ...]:
    """Returns the identity of a proposal: its words and where they hold."""
    return (normal(proposal["text"]), *place_of(proposal))


def _with_memory(
    proposal: Row, behind: Mapping[str, dict[str, Any]], doubt_of: Mapping[str, str]
) -> dict[str, Any]:
    ids = proposal["observation_ids"]
    memory = next((behind[id] for id in ids if id in behind), None)
    if memory is None:
        return {**proposal, "memory_state": GONE}
    doubts = [doubt_of[id] for id in ids if id in doubt_of]
    is_perhaps = memory["state"] == HELD and bool(doubts)
    return {
        **proposal,
        "doubt": doubts[0] if is_perhaps else "",
        "memory_state": "active" if is_perhaps else memory["state"],
        **{name: memory[name] for name in _OF_THE_MEMORY},
        "last_on": memory["event_at"].date(),
        "observation_ids": _once([*proposal["observation_ids"], *memory["observation_ids"]]),
    }


def _with_echoes(
    proposal: dict[str, Any],
    same: Iterable[str],
    session_of: Mapping[str, str],
    owners: frozenset[str],
) -> dict[str, Any]:
    """Returns the proposal with all allowed observations that say it; one of the owner's ends a
    doubt.
    """
    trusted = [id for id in _once([*proposal["observation_ids"], *same]) if id in session_of]
    if not trusted:
        return proposal
    return {
        **proposal,
        "doubt": proposal.get("doubt", "") if owners.isdisjoint(trusted) else "",
        "observation_ids": trusted,
        "session_ids": _once(session_of[id] for id in trusted),
    }


def _once(ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ids))
