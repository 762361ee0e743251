"""Reads from the store what shows whether memory helps."""

from dataclasses import replace

import polars as pl

from memory_assets.stages.friction.known_rules import RULE_CATEGORIES
from memory_assets.stages.maintain.helping import NOTHING_JUDGED, HelpInputs
from memory_assets.store.ledger import IGNORED, RECALLED, USED
from memory_assets.store.store import Store
from memory_assets.text.words import count_tokens


def rules_kept(store: Store) -> HelpInputs:
    """Returns what the line of the status is counted from; empty before a rule was judged."""
    obedience = store.tables.read("obedience")
    if obedience.is_empty():
        return NOTHING_JUDGED
    return replace(NOTHING_JUDGED, obedience=obedience, returned=_returned(store))


def help_inputs(store: Store) -> HelpInputs:
    """Returns what all figures are counted from."""
    failures = store.tables.read("friction").filter(kind="recurring_failure")
    entries = store.tables.read("entries", columns=["used_count"])
    return replace(
        rules_kept(store),
        shown=_shown(store),
        failures=failures.select("day", "minutes"),
        line_count=entries.height,
        used_line_count=entries.filter(pl.col("used_count") > 0).height,
    )


def _returned(store: Store) -> pl.DataFrame:
    """Returns the days on which the owner said a rule or preference again in a later session."""
    is_rule = pl.col("category").is_in(RULE_CATEGORIES)
    columns = ["id", "kind", "author", "category", "observation_ids"]
    memories = store.tables.read("memories", columns=columns)
    rules = memories.filter(is_rule, kind="fact", author="owner").select(
        memory_id="id", id="observation_ids"
    )
    columns = ["id", "day", "session_id", "author", "event_at"]
    observed = store.tables.read("observations", columns=columns).filter(author="owner")
    sayings = rules.explode("id").join(observed, on="id").sort("event_at")
    once = sayings.unique(["memory_id", "session_id"], keep="first", maintain_order=True)
    is_later = pl.int_range(pl.len()).over("memory_id") > 0
    return once.filter(is_later).select("day")


def _shown(store: Store) -> pl.DataFrame:
    """Returns each memory that a session was shown, its tokens, and whether it was used."""
    memories = store.tables.read("memories", columns=["id", "text"]).iter_rows()
    tokens = {id: count_tokens(text) for id, text in memories}
    outcomes = {
        (event.payload.get("session"), id): event.kind == USED
        for event in store.ledger.events([IGNORED, USED])
        for id in event.payload["memory_ids"]
    }
    shown = {
        (event.payload.get("session"), id): event
        for event in store.ledger.events([RECALLED])
        for id in event.payload["memory_ids"]
    }
    rows = [
        (event.at.astimezone(store.settings.zone).date(), outcomes.get((session, id)), tokens[id])
        for (session, id), event in shown.items()
        if session and id in tokens
    ]
    return pl.DataFrame(rows, NOTHING_JUDGED.shown.schema, orient="row")
