"""Reads from the store what shows whether memory helps."""

from dataclasses import replace
from datetime import date

import polars as pl

from memory_assets.english.asking import only_asks
from memory_assets.stages.deliver.shown_context import briefing_sizes
from memory_assets.stages.distill.authorship import typed_sentences
from memory_assets.stages.friction.known_rules import RULE_CATEGORIES
from memory_assets.stages.maintain.helping import NOTHING_JUDGED, HelpInputs
from memory_assets.store.ledger import IGNORED, RECALLED, USED
from memory_assets.store.store import Store
from memory_assets.text.words import CHARS_A_TOKEN, count_tokens, stems_of

FEWEST_WORDS = 3
"""Words of a question that is the same only by chance if it has fewer."""


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
    questions = store.tables.scan("messages").filter(author="owner", is_user_turn=True)
    return replace(
        rules_kept(store),
        asked_again=asked_again(questions.collect()),
        shown=_shown(store),
        briefing_tokens=sum(briefing_sizes(str(store.root))) // CHARS_A_TOKEN,
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


def asked_again(turns: pl.DataFrame) -> pl.DataFrame:
    """Returns the days on which a question was asked in the words of an earlier session."""
    sessions: dict[frozenset[str], str] = {}
    days: list[date] = []
    columns = ("session_id", "day", "text")
    for session, day, text in turns.sort("event_at").select(columns).iter_rows():
        for words in map(stems_of, filter(only_asks, typed_sentences(text))):
            first = sessions.setdefault(words, session)
            if first != session and len(words) >= FEWEST_WORDS:
                days.append(day)
    return pl.DataFrame({"day": days}, schema={"day": pl.Date})


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
