"""Reads from the store the rules that tool calls can show, and what sessions were shown of them."""

import polars as pl

from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.deliver.shown_context import was_briefed
from memory_assets.stages.embed.uses import first_shown
from memory_assets.stages.friction.known_rules import Exposure, KnownRule, find_rules
from memory_assets.stages.friction.week import main_session
from memory_assets.stages.triage.projects import path_of
from memory_assets.stages.triage.promote import PROMOTED
from memory_assets.store.ledger import RECALLED
from memory_assets.store.store import Store

_RULE_COLUMNS = "id kind state author category text scope project".split()
_LINE_COLUMNS = "memory_id proposal_id entry_on text state path".split()


def rules_in(store: Store) -> tuple[KnownRule, ...]:
    """Returns the rules among the memories and the lines of MEMORY.md."""
    promoted_at = {event.target: event.at for event in store.ledger.events([PROMOTED])}
    memories = store.tables.read("memories", columns=_RULE_COLUMNS)
    entries = store.tables.read("entries", columns=_LINE_COLUMNS)
    projects = {path_of(project): project for project in memories["project"].unique() if project}
    # A file of a project that nothing is known of is about that project alone.
    project = pl.col("path").replace_strict(
        {MEMORY_MD: "", **projects}, default=pl.col("path"), return_dtype=pl.String
    )
    return find_rules(memories, entries.with_columns(project=project), promoted_at)


def exposure_of(store: Store, messages: pl.DataFrame) -> Exposure:
    """Returns what the sessions of these messages were shown of memory."""
    sessions = set(map(main_session, messages["session_id"].unique()))
    injected = messages.filter(author="injected").group_by("session_id").agg("text")
    noted = store.tables.read("obedience", columns=["rule_id", "session_id", "known"])
    return Exposure(
        briefed=frozenset(id for id in sessions if was_briefed(str(store.root), id)),
        texts={id: "\n".join(texts) for id, texts in injected.iter_rows()},
        recalled=first_shown(store.ledger.events([RECALLED])),
        noted={(rule, session): known for rule, session, known in noted.iter_rows()},
    )
