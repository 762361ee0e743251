"""Builds proposals, reflections of long sessions, lists of dropped facts, and the timeline.

`runs.steps.condensing` builds the reflections of days and the distillates of weeks and months.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import polars as pl

from memory_assets.runs.results import Builder, Report, Rows, Run, counts_of, per_partition
from memory_assets.runs.steps.condensing import Past, days_of
from memory_assets.runs.steps.deliver import emit
from memory_assets.services.review.open_triage import workspace_of
from memory_assets.stages.deliver.events import REFLECTED
from memory_assets.stages.distill.write_gate import PERHAPS
from memory_assets.stages.reflect import reflector
from memory_assets.stages.reflect.background import Background
from memory_assets.stages.reflect.proposals import NUMBERED, Claims, propose
from memory_assets.stages.reflect.subjects import SPANS, TABLE_OF, WEEK, Span
from memory_assets.stages.reflect.timeline import build_timeline, name_of_chapter, render_chapter
from memory_assets.store.store import Store
from memory_assets.text.files import write_where_changed
from memory_assets.text.words import counted

DROPPED = "dropped_facts"


def proposals(store: Store, _: Run) -> Builder:
    """Proposes lines for MEMORY.md from a day's reflections, with numbers from the ledger."""
    past = Past(store)
    claims = claims_of(store)
    return lambda day: propose_day(store, past, day, claims)


def claims_of(store: Store) -> Claims:
    """Returns what finds the number of a proposal again if the ids of its memories changed."""
    claims = Claims(store.key, frozenset(store.tables.read("observations", columns=["id"])["id"]))
    rows = store.tables.read("proposals", columns=["proposal_id", "text", "project"]).iter_rows()
    return replace(claims, proposed={id: claims.of(text, project) for id, text, project in rows})


def propose_day(store: Store, past: Past, day: str, claims: Claims) -> pl.DataFrame:
    """Returns the day's proposals, after it has noted their numbers in the ledger."""
    frame, numbers = propose(
        date.fromisoformat(day),
        store.tables.read("reflections", [day]),
        past.memories(date.fromisoformat(day)),
        store.ledger.events([NUMBERED]),
        owner=store.settings.owner,
        sections=store.settings.sections,
        zone=store.settings.zone,
        claims=claims,
        first_number=store.first_number,
        offered=store.tables.read("observations", [day]).filter(
            pl.col("gate_reason").str.starts_with(PERHAPS), gate="hold"
        ),
    )
    for id, payload in numbers:
        store.ledger.append(NUMBERED, id, payload, actor="reflector")
    return frame


def emit_reflected(store: Store, table: str, partitions: Sequence[str]) -> Report:
    """Emits `observations.reflected` for each day with a reflection, again when that changes."""
    proposed = store.tables.read(table, partitions, columns=["day"])
    for day, info in store.tables.parts("reflections", partitions).items():
        if info.rows:
            columns = ["input_tokens", "output_tokens"]
            rows = store.tables.read("reflections", [day], columns)
            read, written = rows.sum().row(0)
            emit(
                store,
                REFLECTED,
                day,
                info.fingerprint,
                inputTokens=read,
                outputTokens=written,
                compressionRatio=round(written / max(read, 1), 3),
                proposalCount=proposed.filter(day=date.fromisoformat(day)).height,
            )
    return Report({"proposals": proposed.height})


@per_partition
def session_reflections(store: Store, _: str) -> Rows:
    """Condenses the facts of each long session, which that session gets when it is resumed."""
    context = store.settings.context_tokens
    now = store.settings.clock()
    read = store.tables.read
    sessions = reflector.long_sessions(read("windows"), context_tokens=context, now=now)
    days = [day.isoformat() for day in sessions["days"].explode().unique().sort()]
    of_sessions = pl.col("session_id").is_in(sessions["session_id"].implode())
    observed = store.tables.scan("observations", days).filter(of_sessions).collect()
    columns = ["id", "observation_ids", "session_ids", "superseded_by", "state"]
    background = Background.of(read("memories", columns=columns))
    frame = reflector.reflect_on_sessions(sessions, observed, background, context_tokens=context)
    most = max(frame["tokens"], default=0)
    return Rows(frame, {"tokens_most": most, "facts_told": int(frame["told_count"].sum())})


def dropped_facts(store: Store, _: Run) -> Report:
    """Lists the facts that changed reflections of days, weeks and months leave out."""
    with store.lock():
        figures: dict[str, Any] = {"parts_written": sum(_list_again(store, span) for span in SPANS)}
    dropped = store.tables.read(DROPPED, columns=["span", "reason"])
    for span in SPANS:
        reasons = counts_of(dropped.filter(span=span.name), "reason")
        figures[f"dropped_by_{span.name}"] = reasons
    return Report(figures)


def _list_again(store: Store, span: Span) -> int:
    """Lists the dropped facts of changed days, weeks or months; returns the number of these."""
    table = TABLE_OF[span.name]
    prefix = f"{span.name}-"
    parts = store.tables.parts(table)
    listed = {
        part.removeprefix(prefix): info.inputs
        for part, info in store.tables.parts(DROPPED).items()
        if part.startswith(prefix)
    }
    for part in listed.keys() - parts.keys():
        store.tables.drop(DROPPED, f"{prefix}{part}")
    due = [part for part, info in parts.items() if listed.get(part) != info.fingerprint]
    for part in due:
        rows = reflector.list_dropped(span.name, store.tables.read(table, [part]))
        store.tables.write(DROPPED, f"{prefix}{part}", rows, inputs=parts[part].fingerprint)
    return len(due)


@per_partition
def timeline(store: Store, part: str) -> pl.DataFrame:
    """Builds the sentences of a finished week."""
    read = store.tables.read
    first = date.fromisoformat(part)
    days = days_of(WEEK, first)
    return build_timeline(
        first,
        read("observations", days),
        read("segments", days),
        read("messages", days),
        read("windows"),
        store.settings.zone,
    )


def write_chapters(store: Store, table: str, partitions: Sequence[str]) -> Report:
    """Writes the owner's chapters of the weeks if they changed, and commits them."""
    with store.lock():
        written = [_write_chapter(store, date.fromisoformat(part)) for part in partitions]
        changed = [path for path in written if path]
        if changed:
            workspace_of(store).commit(f"Tell {counted(len(changed), 'week')}", changed)
    return Report({"chapters_changed": len(changed)})


def _write_chapter(store: Store, first: date) -> str | None:
    """Writes the owner's chapter of a week; returns its path, or None if nothing changed."""
    sentences = store.tables.read("timeline", [first.isoformat()])
    of_owner = sentences.filter(person=store.settings.owner)
    name = name_of_chapter(first)
    text = render_chapter(first, of_owner) if of_owner.height else ""
    return name if write_where_changed(store.workspace / name, text) else None


BUILDERS = (proposals, session_reflections, dropped_facts, timeline)
"""The functions that build the tables of their names (`runs.builders`)."""
