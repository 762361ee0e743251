"""Builds reflections, distillates, the timeline, proposals, and what long sessions are told of themselves."""

from collections.abc import Sequence
from datetime import date

import polars as pl

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.runs.materialise import Builder, Report, Rows, Run
from memory_assets.runs.steps.condensing import Past, condense, counts_of, days_of
from memory_assets.stages.reflect.background import Background
from memory_assets.stages.reflect.gradient import DAY, MONTH, SPANS, TABLE_OF, WEEK, Span
from memory_assets.stages.reflect.proposals import NUMBERED, propose
from memory_assets.stages.reflect.reflector import list_dropped
from memory_assets.stages.reflect.session import long_sessions, reflect_on_sessions
from memory_assets.stages.reflect.timeline import build_timeline, name_of_chapter, render_chapter
from memory_assets.store.store import Store
from memory_assets.text.files import write_where_changed

DROPPED = "dropped_facts"


def reflections(run: Run) -> Builder:
    """Condenses the observations of a day."""
    return condense(run, DAY)


def weekly_distillates(run: Run) -> Builder:
    """Condenses a finished week from the reflections of its days."""
    return condense(run, WEEK)


def monthly_distillates(run: Run) -> Builder:
    """Condenses a finished month from the reflections of its days."""
    return condense(run, MONTH)


def proposals(run: Run) -> Builder:
    """Proposes lines for MEMORY.md from a day's reflections; their numbers are written to the ledger first."""
    past = Past(run.store)
    return lambda day: propose_day(run.store, past, day)


def propose_day(store: Store, past: Past, day: str) -> pl.DataFrame:
    """Returns the day's proposals, numbered once in the ledger."""
    frame, numbers = propose(
        date.fromisoformat(day),
        store.tables.read("reflections", [day]),
        past.memories(date.fromisoformat(day)),
        store.ledger.events([NUMBERED]),
        owner=store.settings.owner,
        sections=store.settings.sections,
        zone=store.settings.zone,
    )
    for number in numbers:
        store.ledger.append(NUMBERED, number.proposal_id, {"key": number.key, "day": str(number.day)}, actor="reflector")
    return frame


def session_reflections(run: Run) -> Builder:
    """Condenses what each long session established, for itself alone."""

    def build(_: str) -> Rows:
        frame = reflect_on_store(run.store)
        figures = {"tokens_most": max(frame["tokens"], default=0), "facts_told": int(frame["told_count"].sum())}
        return Rows(frame, figures)

    return build


def reflect_on_store(store: Store) -> pl.DataFrame:
    """Returns the table `session_reflections`, from the days on which its sessions were observed."""
    settings, tables = store.settings, store.tables
    sessions = long_sessions(tables.read("windows"), context_tokens=settings.context_tokens, now=settings.clock())
    days = [day.isoformat() for day in sessions["days"].explode().unique().sort()]
    observed = tables.scan("observations", days).filter(pl.col("session_id").is_in(sessions["session_id"].implode()))
    memories = tables.read("memories", columns=["id", "observation_ids", "session_ids", "superseded_by", "state"])
    return reflect_on_sessions(sessions, observed.collect(), Background.of(memories))


def dropped_facts(run: Run) -> Report:
    """Lists the facts that days, weeks and months leave out, where these were written since."""
    tables = run.store.tables
    with run.store.lock():
        written = sum(_list_again(run.store, span) for span in SPANS)
    found = tables.read(DROPPED, columns=["span", "reason"])
    mix = {f"dropped_by_{span.name}": counts_of(found.filter(pl.col("span") == span.name), "reason") for span in SPANS}
    return Report({"parts_written": written, **mix})


def _list_again(store: Store, span: Span) -> int:
    """Lists what the span's parts drop that were written since they were listed; returns how many parts those are."""
    sources, present = store.tables.parts(TABLE_OF[span.name]), store.tables.parts(DROPPED)
    for part in present:
        if part.startswith(f"{span.name}-") and part.removeprefix(f"{span.name}-") not in sources:
            store.tables.drop(DROPPED, part)
    due = {
        part: info
        for part, info in sources.items()
        if (known := present.get(f"{span.name}-{part}")) is None or known.inputs != info.fingerprint
    }
    for part, info in due.items():
        rows = list_dropped(span.name, store.tables.read(TABLE_OF[span.name], [part]))
        store.tables.write(DROPPED, f"{span.name}-{part}", rows, inputs=info.fingerprint)
    return len(due)


def timeline(run: Run) -> Builder:
    """Writes each finished week as a chapter: rows, and a page of the workspace, committed."""
    store = run.store

    def build(part: str) -> Rows:
        first = date.fromisoformat(part)
        days = days_of(WEEK, first)
        seen, segments, said = (store.tables.read(table, days) for table in ("observations", "segments", "messages"))
        return Rows(build_timeline(first, seen, segments, said, store.tables.read("windows"), store.settings.zone))

    return build


def write_chapters(store: Store, table: str, partitions: Sequence[str]) -> Report:
    """Writes the owner's chapters of the weeks where they changed, and commits them."""
    with store.lock():
        changed = [path for part in partitions if (path := _write_chapter(store, date.fromisoformat(part)))]
        if changed:
            workspace = GitWorkspace(store.workspace)
            workspace.prepare()
            workspace.commit(f"Tell {len(changed)} week{'' if len(changed) == 1 else 's'}", changed)
    return Report({"chapters_changed": len(changed)})


def _write_chapter(store: Store, first: date) -> str | None:
    """Writes the owner's chapter and returns its path, or None where nothing changed."""
    own = store.tables.read("timeline", [first.isoformat()]).filter(pl.col("person") == store.settings.owner)
    name, text = name_of_chapter(first), render_chapter(first, own) if own.height else ""
    return name if write_where_changed(store.workspace / name, text) else None
